// SPDX-License-Identifier: Apache-2.0

package launchpriority

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/inplace/rollout"
)

const none = types.UID("")

func TestPlan(t *testing.T) {
	type change = func(*corev1.Pod)
	condition := func(conditions ...corev1.PodCondition) change {
		return func(pod *corev1.Pod) { pod.Status.Conditions = conditions }
	}
	phase := func(phase corev1.PodPhase) change { return func(pod *corev1.Pod) { pod.Status.Phase = phase } }
	restart := func(policy corev1.RestartPolicy) change {
		return func(pod *corev1.Pod) { pod.Spec.RestartPolicy = policy }
	}
	restartAlone := func(policy corev1.ContainerRestartPolicy, rules ...corev1.ContainerRestartRule) change {
		return func(pod *corev1.Pod) {
			pod.Spec.Containers[0].RestartPolicy, pod.Spec.Containers[0].RestartPolicyRules = &policy, rules
		}
	}
	deleted := func(pod *corev1.Pod) { pod.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }
	also := func(configMap, key string) change {
		return func(pod *corev1.Pod) {
			pod.Spec.Containers[0].Env = append([]corev1.EnvVar{waits(configMap, key)}, pod.Spec.Containers[0].Env...)
		}
	}
	native := func(pod *corev1.Pod) {
		always := corev1.ContainerRestartPolicyAlways
		pod.Spec.InitContainers = []corev1.Container{{Name: "native", RestartPolicy: &always, Env: []corev1.EnvVar{waits("web-barrier", "p_999")}}}
		pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "native"}}
		pod.Status.Conditions[0].Status = corev1.ConditionFalse
	}
	debug := func(pod *corev1.Pod) {
		pod.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "debug", Env: []corev1.EnvVar{waits("web-barrier", "p_999")}}}}
		pod.Status.EphemeralContainerStatuses = []corev1.ContainerStatus{{Name: "debug"}}
	}

	for _, test := range []struct {
		name    string
		pod     string
		changes []change
		owner   types.UID // of the ConfigMap; none: there is none
		keys    string
		want    string
	}{
		{"LP-8: no barriers", "main:waiting log:waiting", nil, none, "", "nothing"},
		{"LP-8: the condition ContainersReady is missing", "main=0:waiting log=5:waiting", []change{condition()}, none, "", "nothing"},
		{"LP-8: it is True", "main=0:ready log=5:ready", nil, none, "", "nothing"},
		{"LP-8: it is True, whatever containers say", "main=0:waiting log=5:ready",
			[]change{condition(corev1.PodCondition{Type: corev1.ContainersReady, Status: corev1.ConditionTrue})}, none, "", "nothing"},
		{"LP-8: it is Unknown", "main=0:waiting log=5:waiting",
			[]change{condition(corev1.PodCondition{Type: corev1.ContainersReady, Status: corev1.ConditionUnknown})}, none, "", "create p_5"},
		{"LP-9: no ConfigMap, which is created with its first key", "main=0:waiting log=5:waiting", nil, none, "", "create p_5"},
		{"LP-10: the highest of those not ready", "main=0:waiting log=5:ready side=3:waiting", nil, "uid", "p_5", "add p_3"},
		{"LP-10: a running one is not ready", "main=0:waiting log=5:running", nil, "uid", "", "add p_5"},
		{"LP-10: none with a barrier", "main=0:ready side:waiting", nil, "uid", "p_0", "nothing"},
		{"LP-10: none, without a ConfigMap", "main=0:ready side:waiting", nil, none, "", "nothing"},
		{"LP-11: the key is missing", "main=0:waiting log=5:ready", nil, "uid", "p_5", "add p_0"},
		{"LP-11: the key stands", "main=0:waiting log=5:running", nil, "uid", "p_5", "nothing"},
		{"LP-11: one key per reconcile", "a=3:waiting b=2:waiting c=1:waiting", nil, "uid", "", "add p_3"},
		{"LP-12: keys are never removed", "main=0:running log=5:ready", nil, "uid", "p_5 p_0 p_77", "nothing"},
		{"the example, first reconcile", "main=0:waiting proxy=100:waiting log=100:waiting agent=-5:waiting", nil, none, "", "create p_100"},
		{"the example, one of two is ready", "main=0:waiting proxy=100:ready log=100:running agent=-5:waiting", nil, "uid", "p_100", "nothing"},
		{"the example, second reconcile", "main=0:waiting proxy=100:ready log=100:ready agent=-5:waiting", nil, "uid", "p_100", "add p_0"},
		{"the example, third reconcile", "main=0:ready proxy=100:ready log=100:ready agent=-5:waiting", nil, "uid", "p_100 p_0", "add p_-5"},
		{"LP-E4: one that never becomes ready holds the others back", "main=0:waiting log=5:failed", nil, "uid", "p_5", "nothing"},
		{"LP-E5: one that fails later", "main=0:running log=5:failed", nil, "uid", "p_5 p_0", "nothing"},
		{"LP-E6: no statuses yet", "main=0 log=5", nil, none, "", "nothing"},
		{"LP-E6: no statuses yet, but a ConfigMap", "main=0 log=5", nil, "uid", "", "nothing"},
		{"LP-E7: negative priorities", "main=-3:waiting log=-1:ready", nil, "uid", "p_-1", "add p_-3"},
		{"LP-E9: the ConfigMap has been deleted", "main=0:refused log=5:ready", nil, none, "", "create p_0 again in 1m0s"},
		{"LP-E12: by hand, the key that is waited for", "main=0:waiting log=007:waiting", nil, "uid", "", "add p_007"},
		{"LP-E12: by hand, two keys of one number", "main=7:waiting log=007:waiting", nil, "uid", "p_7", "add p_007"},
		{"LP-E12: by hand, a barrier that is none", "main=0:waiting log=high:waiting", nil, "uid", "", "add p_0"},
		{"a barrier of another pod holds nobody back", "main:waiting log=5:waiting", []change{also("old-barrier", "p_9")}, "uid", "", "add p_5"},
		{"two barriers: the last one is the priority", "main=0:waiting log=5:waiting", []change{also("web-barrier", "p_9")}, "uid", "", "add p_5"},
		{"two barriers: both keys are needed", "main=0:waiting log=5:ready", []change{also("web-barrier", "p_9")}, "uid", "p_5", "add p_9 p_0"},

		{"LP-7: native sidecars and their barriers do not count", "main=0:ready log=5:ready", []change{native}, "uid", "p_5 p_0", "nothing"},
		{"LP-7: native sidecars come before all others", "main=0:waiting log=5:waiting", []change{native}, "uid", "", "add p_5"},
		{"ephemeral containers do not count", "main=0:waiting log=5:waiting", []change{debug}, "uid", "", "add p_5"},

		{"a pod that is being deleted", "main=0:waiting log=5:waiting", []change{deleted}, none, "", "nothing"},
		{"a pod that has failed", "main=0:waiting log=5:waiting", []change{phase(corev1.PodFailed)}, none, "", "nothing"},
		{"a pod that has succeeded", "main=0:ok log=5:ok", []change{phase(corev1.PodSucceeded)}, none, "", "nothing"},

		{"the ConfigMap of a former pod is waited for", "main=0:waiting log=5:waiting", nil, "former", "p_5", "again in 1s"},
		{"the ConfigMap of a former pod, with all keys", "main=0:waiting log=5:waiting", nil, "former", "p_5 p_0", "again in 1s"},
		{"the kubelet refuses a container: look again whether the key still stands", "main=0:waiting log=5:refused", nil, "uid", "p_5", "again in 1m0s"},
		{"the kubelet refuses a container whose turn it is not", "main=0:refused log=5:running", nil, "uid", "p_5", "nothing"},

		{"a job: one that has ended with success is done", "main=0:waiting log=5:ok", []change{restart(corev1.RestartPolicyNever)}, "uid", "p_5", "add p_0"},
		{"a job: so it is with OnFailure", "main=0:waiting log=5:ok", []change{restart(corev1.RestartPolicyOnFailure)}, "uid", "p_5", "add p_0"},
		{"a job: one that has failed is not", "main=0:waiting log=5:failed", []change{restart(corev1.RestartPolicyNever)}, "uid", "p_5", "nothing"},
		{"with Always, it is started again", "main=0:waiting log=5:ok", []change{restart(corev1.RestartPolicyAlways)}, "uid", "p_5", "nothing"},
		{"a restart policy of its own", "log=5:ok main=0:waiting", []change{restart(corev1.RestartPolicyAlways), restartAlone(corev1.ContainerRestartPolicyNever)}, "uid", "p_5", "add p_0"},
		{"a restart policy of its own, and rules", "log=5:ok main=0:waiting",
			[]change{restart(corev1.RestartPolicyAlways), restartAlone(corev1.ContainerRestartPolicyNever, corev1.ContainerRestartRule{})}, "uid", "p_5", "nothing"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &Snapshot{Pod: podOf(t, test.pod, test.changes...), ConfigMap: configMapOf(test.owner, strings.Fields(test.keys)...)}
			before := &Snapshot{Pod: s.Pod.DeepCopy(), ConfigMap: s.ConfigMap.DeepCopy()}
			if got := describe(NewPlan(s)); got != test.want {
				t.Errorf("plan: %s, want: %s", got, test.want)
			}
			if diff := cmp.Diff(before, s); diff != "" {
				t.Errorf("the snapshot was changed:\n%s", diff)
			}
		})
	}
}

// The ConfigMap as it goes over the wire.
func TestPlanCreates(t *testing.T) {
	plan := NewPlan(&Snapshot{Pod: podOf(t, "main=0:waiting log=5:waiting")})
	want := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: "web-barrier",
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "web", UID: "uid"}},
		},
		Data: map[string]string{"p_5": "true"},
	}
	if diff := cmp.Diff(want, plan.Create); diff != "" {
		t.Errorf("LP-9: ConfigMap (-want +got):\n%s", diff)
	}
}

// Whose ConfigMap may be written to.
func TestPlanOwners(t *testing.T) {
	owner := func(kind, name string, uid types.UID) metav1.OwnerReference {
		return metav1.OwnerReference{APIVersion: "v1", Kind: kind, Name: name, UID: uid}
	}
	for _, test := range []struct {
		name   string
		owners []metav1.OwnerReference
		gone   bool
		want   string
	}{
		{"the pod's", []metav1.OwnerReference{owner("Pod", "web", "uid")}, false, "add p_5"},
		{"the pod's, among others", []metav1.OwnerReference{owner("Tenant", "a", "t"), owner("Pod", "web", "uid")}, false, "add p_5"},
		{"the pod's, but being deleted", []metav1.OwnerReference{owner("Pod", "web", "uid")}, true, "again in 1s"},
		{"a former pod's", []metav1.OwnerReference{owner("Pod", "web", "former")}, false, "again in 1s"},
		{"another pod's", []metav1.OwnerReference{owner("Pod", "shop", "other")}, false, "report again in 1m0s"},
		{"somebody else's", []metav1.OwnerReference{owner("Tenant", "web", "t")}, false, "report again in 1m0s"},
		{"nobody's", nil, false, "report again in 1m0s"},
	} {
		t.Run(test.name, func(t *testing.T) {
			configMap := configMapOf("uid", "p_9")
			configMap.OwnerReferences = test.owners
			if test.gone {
				configMap.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
			}
			plan := NewPlan(&Snapshot{Pod: podOf(t, "main=0:waiting log=5:waiting"), ConfigMap: configMap})
			if got := describe(plan); got != test.want {
				t.Errorf("plan: %s, want: %s", got, test.want)
			}
			const problem = "ConfigMap web-barrier lacks p_5 and does not belong to this pod: want an owner with the UID uid; delete it, and the pod gets one of its own"
			if err := rollout.ErrorOf(plan.Problems); err != nil && err.Error() != problem {
				t.Errorf("problem %q, want %q", err, problem)
			}
			configMap.Data["p_5"] = ""
			if plan := NewPlan(&Snapshot{Pod: podOf(t, "main=0:waiting log=5:waiting"), ConfigMap: configMap}); len(plan.Problems) > 0 {
				t.Errorf("the key stands, and yet %v", plan.Problems)
			}
		})
	}
}

func TestPlanWaiting(t *testing.T) {
	for _, test := range []struct {
		name  string
		pod   string
		owner types.UID
		keys  string
		want  []string
	}{
		{"nobody", "main=0:waiting log=0:waiting", none, "", nil},
		{"LP-10: the lower ones wait for those whose turn it is", "main=0:waiting a=5:waiting b=5:running side:waiting", none, "", []string{
			"main, LaunchPriority 0 below 5: not ready yet, with priority 5: a, b",
		}},
		{"LP-10: and not for those that are ready", "main=0:waiting a=5:ready b=5:running c=-1:waiting", "uid", "p_5", []string{
			"main, LaunchPriority 0 below 5: not ready yet, with priority 5: b", "c, LaunchPriority -1 below 5: not ready yet, with priority 5: b",
		}},
		{"LP-E5: one that has started does not wait", "main=0:running a=5:failed", "uid", "p_5 p_0", nil},
		{"a ConfigMap of a former pod", "main=0:waiting a=5:waiting", "former", "p_5", []string{
			"main, FormerPod 0 below 5: ConfigMap web-barrier of a former pod has yet to go",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			plan := NewPlan(&Snapshot{Pod: podOf(t, test.pod), ConfigMap: configMapOf(test.owner, strings.Fields(test.keys)...)})
			var got []string
			for _, w := range plan.Waiting {
				got = append(got, fmt.Sprintf("%s, %s %d below %d: %s", w.Name, w.Reason.Rule, w.Reason.Observed, w.Reason.Limit, w.Reason))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("waiting (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNothingToPlanFor(t *testing.T) {
	for _, s := range []*Snapshot{nil, {}} {
		if plan := NewPlan(s); !reflect.DeepEqual(plan, &Plan{}) {
			t.Errorf("plan %+v, want none", plan)
		}
	}
}

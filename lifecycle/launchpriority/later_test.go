// SPDX-License-Identifier: Apache-2.0

package launchpriority

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// A release switches what it does by default. (LP-17, LP-18)
func TestFeaturesOf(t *testing.T) {
	if diff := cmp.Diff(Features{}, FeaturesOf(podwright.Release14)); diff != "" {
		t.Errorf("1.4 (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(Features{KeyBeforeReport: true, MarkCompleted: true}, FeaturesOf(podwright.Release19)); diff != "" {
		t.Errorf("1.9 (-want +got):\n%s", diff)
	}
}

func TestPlanOfLater(t *testing.T) {
	unseen := func(pod *corev1.Pod) { pod.Status = corev1.PodStatus{Phase: corev1.PodPending} }
	marked := func(pod *corev1.Pod) {
		pod.Annotations = map[string]string{v1alpha1.LaunchPriorityCompletedAnnotation: "true"}
	}
	keep := func(*corev1.Pod) {}
	for _, test := range []struct {
		name, pod string
		change    func(*corev1.Pod)
		owner     types.UID
		keys      string
		want      string
		mark      bool
	}{
		{"LP-17: the first key comes with the pod", "main=0 proxy=100 log=100 agent=-5", unseen, none, "", "create p_100", false},
		{"LP-17: the next one does not", "main=0 proxy=100", unseen, "uid", "p_100", "nothing", false},
		{"LP-17: one of two has reported", "main=0 proxy=100:ready log=100", keep, "uid", "p_100", "nothing", false},
		{"LP-18: the last key but one", "main=0:waiting proxy=100:ready log=100:ready agent=-5:waiting", keep, "uid", "p_100", "add p_0", false},
		{"LP-18: the last key", "main=0:ready proxy=100:ready log=100:ready agent=-5:waiting", keep, "uid", "p_100 p_0", "add p_-5", true},
		{"LP-18: by chance the other one is ready", "b=1:waiting a=0:ready", keep, "uid", "", "add p_1", true},
		{"LP-18: the last key was there", "main=0:running proxy=100:ready", keep, "uid", "p_100 p_0", "nothing", true},
		{"LP-18: it is marked", "main=0:running proxy=100:ready", marked, "uid", "p_100 p_0", "nothing", false},
		{"LP-18: it is marked, and the ConfigMap is deleted", "main=0:refused proxy=100:ready", marked, none, "", "create p_0 again in 1m0s", false},
		{"LP-18: the template had the mark", "main=0 proxy=100", func(pod *corev1.Pod) { unseen(pod); marked(pod) }, none, "", "create p_100", false},
		{"LP-18: the ConfigMap of a former pod has the keys", "main=0:waiting proxy=100:ready", keep, "former", "p_100 p_0", "again in 1s", false},
		{"LP-8: no barriers", "main log", unseen, none, "", "nothing", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			plan := NewPlan(&Snapshot{Pod: podOf(t, test.pod, test.change), ConfigMap: configMapOf(test.owner, strings.Fields(test.keys)...),
				Features: FeaturesOf(podwright.Release19)})
			if got := describe(plan); got != test.want || plan.Mark != test.mark {
				t.Errorf("plan: %s, mark %t, want: %s, mark %t", got, plan.Mark, test.want, test.mark)
			}
		})
	}
}

// The right to patch pods is asked for if they are marked, and only then. (LP-18)
func TestRulesOfMarks(t *testing.T) {
	for _, on := range []bool{false, true} {
		rules := Rules(Options{Features: Features{MarkCompleted: on}})
		if got := slices.ContainsFunc(rules, func(r rbacv1.PolicyRule) bool {
			return slices.Contains(r.Resources, "pods") && slices.Contains(r.Verbs, "patch")
		}); got != on {
			t.Errorf("MarkCompleted %t: rules %v", on, rules)
		}
	}
}

// The first key is there before the kubelet has looked at the pod, and the pod is marked with its last key, once. (LP-17, LP-18)
func TestMarkedPod(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.options.Features = FeaturesOf(podwright.Release19)
		reconciles, stop := c.start()
		defer stop()
		c.create("main=0 log=5")
		synctest.Wait()
		if got := c.keys(); got != "p_5" || c.marked() {
			t.Fatalf("without a kubelet: keys %s, marked %t", got, c.marked())
		}
		c.settle()
		if c.marked() {
			t.Error("it is marked, and log is not ready")
		}
		c.repair("log")
		c.settle()
		if got := c.keys(); got != "p_0 p_5" || !c.marked() {
			t.Errorf("log is ready: keys %s, marked %t", got, c.marked())
		}
		if len(reconciles.Errors()) > 0 {
			t.Errorf("reconciles failed: %q", reconciles.Errors())
		}
	})
}

func (c *cluster) marked() bool {
	c.T.Helper()
	pod, err := c.Kube.CoreV1().Pods(fixture.Web.Namespace).Get(c.T.Context(), fixture.Web.Name, metav1.GetOptions{})
	c.Must(err)
	return pod.Annotations[v1alpha1.LaunchPriorityCompletedAnnotation] == "true"
}

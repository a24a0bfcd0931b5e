// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/inplace/rollout"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/heldup"
	"github.com/podwright/podwright/lifecycle/readiness"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// TestPlans plans for single states of the world, which the files in testdata/plans describe in a line each:
//
//	plan T/C pods… change…       the plan
//	reasons T/C pods… change…    why pods wait
//	status T/C pods… change…     the status that is written
//	revisions T/C pods… change…  what becomes of revisions
//	creates T/C pods… change…    the pods that are created, and their claims
//	held T/C pods… change…       how many objects keep it from its spec
//	window T/C change…           which ordinals are wanted, and the one behind them
//
// T is the revision of the template, C the current one. How a pod is written says testSnapshot. A change is a key of the command
// spec of TestScripts, or one of stateChanges. Those name a pod by its place in the line.
func TestPlans(t *testing.T) {
	datadriven.Walk(t, "testdata/plans", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s := stateOf(t, d)
			out, plan := &strings.Builder{}, NewPlan(s)
			switch d.Cmd {
			case "plan":
				showPlan(out, s, plan)
			case "status":
				showStatus(out, s, plan.Status)
				checkWrittenOnce(t, s, plan.Status)
			case "reasons":
				for _, wait := range plan.Waiting {
					fmt.Fprintf(out, "%s: %s\n", wait.Pod.Name, wait.Reason.Message)
				}
			case "revisions":
				showRevisions(out, s, plan)
			case "creates":
				showCreations(out, s, plan)
			case "held":
				fmt.Fprintln(out, len(plan.Held))
			case "window":
				w, err := s.newWindow()
				if err != nil {
					t.Fatalf("%s: %v", d.Pos, err)
				}
				fmt.Fprintln(out, w.wanted, w.end)
			default:
				t.Fatalf("%s: unknown command %s", d.Pos, d.Cmd)
			}
			return out.String()
		})
	})
}

// stateOf is the state that the arguments of a command describe.
func stateOf(t *testing.T, d *datadriven.TestData) *Snapshot {
	template, current, _ := strings.Cut(d.CmdArgs[0].Key, "/")
	var pods []string
	changes := d.CmdArgs[1:]
	for len(changes) > 0 && changes[0].Vals == nil && strings.ContainsAny(changes[0].Key[:1], "0123456789") {
		pods, changes = append(pods, changes[0].Key), changes[1:]
	}
	s := testSnapshot(t, template, current, strings.Join(pods, " "))
	w := newScenario(t)
	w.set = s.Set
	for _, arg := range changes {
		if change := stateChanges[arg.Key]; change != nil {
			change(s, arg.Vals)
		} else {
			w.change(arg.Key, strings.Join(arg.Vals, ","))
		}
	}
	return s
}

// showPlan writes what a plan does, which pods wait for what, and what cannot be done.
func showPlan(out *strings.Builder, s *Snapshot, plan *Plan) {
	line := func(prefix, text string) {
		if text != "" {
			fmt.Fprintf(out, "%s%s\n", prefix, text)
		}
	}
	line("resize ", resized(plan))
	line("", summary(s, plan))
	for _, d := range plan.Delete {
		if d.Unchanged {
			line("if unchanged: ", d.Pod.Name)
		}
	}
	for _, job := range plan.PreDownload.Create {
		if line("pull ahead: ", job.Spec.Image); job.Spec.SandboxConfig != nil {
			line("", "with the sandbox config of pods")
		}
	}
	line("waits: ", waits(plan))
	for _, problem := range plan.Problems {
		fmt.Fprintf(out, "%s: %s\n", problem.Condition, withLetters(s, problem.Err.Error()))
	}
	line("ask for less by now: ", strings.Join(plan.LargerClaims, " "))
	for _, h := range plan.Held {
		if h.Reason != nil && h.Reason.Rule == heldup.ClaimTooSmall {
			fmt.Fprintf(out, "held up: %s %s: %s\n", h.Kind, h.Name, h.Reason.Message)
		}
	}
	if plan.RequeueAfter > 0 {
		fmt.Fprintf(out, "again after %v\n", plan.RequeueAfter)
	}
}

// withLetters has letters for the names of revisions.
func withLetters(s *Snapshot, text string) string {
	for _, r := range s.Revisions {
		text = strings.ReplaceAll(text, r.Name, letterOf(s, r.Name))
	}
	return text
}

// showStatus writes the numbers of a status, its revision, and its conditions.
func showStatus(out *strings.Builder, s *Snapshot, status *v1beta1.StatefulSetStatus) {
	fmt.Fprintf(out, "replicas=%d ready=%d available=%d current=%d updated=%d updatedReady=%d updatedAvailable=%d at %s\n",
		status.Replicas, status.ReadyReplicas, status.AvailableReplicas, status.CurrentReplicas,
		status.UpdatedReplicas, status.UpdatedReadyReplicas, status.UpdatedAvailableReplicas, letterOf(s, status.CurrentRevision))
	for _, c := range status.Conditions {
		fmt.Fprintf(out, "%s\n", strings.Join(strings.Fields(fmt.Sprintf("%s=%s %s: %s", c.Type, c.Status, c.Reason, withLetters(s, c.Message))), " "))
	}
	for _, c := range status.VolumeClaims {
		fmt.Fprintf(out, "claims %s: %d compatible, %d ready\n", c.VolumeClaimName, c.CompatibleReplicas, c.CompatibleReadyReplicas)
	}
}

// checkWrittenOnce checks that a status is written if a number or a condition differs, and only then.
func checkWrittenOnce(t *testing.T, s *Snapshot, status *v1beta1.StatefulSetStatus) {
	t.Helper()
	check := func(what string, written bool) {
		t.Helper()
		if got := NewPlan(s).Status; (got != nil) != written {
			t.Errorf("%s: written %t: %+v", what, got != nil, got)
		}
	}
	s.Set.Status = *status.DeepCopy()
	s.Now = s.Now.Add(time.Second)
	check("nothing differs", false)
	if len(NewPlan(s).Problems) > 0 {
		return // of some specs it is not known what is to be counted
	}
	fields := reflect.ValueOf(&s.Set.Status).Elem()
	for i := range fields.NumField() {
		if f := fields.Field(i); f.CanInt() {
			f.SetInt(f.Int() - 1)
			check(fields.Type().Field(i).Name, true)
			f.SetInt(f.Int() + 1)
		}
	}
	s.Set.Status.Conditions = []appsv1.StatefulSetCondition{{Type: v1beta1.StatefulSetConditionFailedUpdatePod, Status: corev1.ConditionTrue, Message: "what is over"}}
	check("a condition that is over", true)
}

// showRevisions writes what a plan does with revisions.
func showRevisions(out *strings.Builder, s *Snapshot, plan *Plan) {
	show := func(what string, revisions ...*appsv1.ControllerRevision) {
		for _, r := range revisions {
			if r != nil {
				fmt.Fprintf(out, "%s %s\n", what, letterOf(s, r.Name))
			}
		}
	}
	r := &plan.Revisions
	show("update", r.Update)
	show("current", r.Current)
	show("create", r.Create)
	show("raise", r.Raise)
	show("adopt", r.Adopt...)
	show("delete", r.Delete...)
}

// showCreations writes the pods that a plan creates, and their claims.
func showCreations(out *strings.Builder, s *Snapshot, plan *Plan) {
	labels := func(of map[string]string) {
		for _, key := range slices.Sorted(maps.Keys(of)) {
			fmt.Fprintf(out, "  %s=%s\n", key, withLetters(s, of[key]))
		}
	}
	for _, c := range plan.Create {
		pod := c.Pod
		fmt.Fprintf(out, "pod %s/%s, host %s.%s, gates %v\n", pod.Namespace, pod.Name, pod.Spec.Hostname, pod.Spec.Subdomain, pod.Spec.ReadinessGates)
		labels(pod.Labels)
		fmt.Fprintf(out, "  annotations %v\n", slices.Sorted(maps.Keys(pod.Annotations)))
		for _, v := range pod.Spec.Volumes {
			if fmt.Fprintf(out, "  volume %s", v.Name); v.PersistentVolumeClaim != nil {
				fmt.Fprintf(out, " of claim %s", v.PersistentVolumeClaim.ClaimName)
			}
			fmt.Fprintln(out)
		}
		for _, claim := range c.Claims {
			fmt.Fprintf(out, "claim %s/%s\n", claim.Namespace, claim.Name)
			labels(claim.Labels)
			for _, owner := range claim.OwnerReferences {
				fmt.Fprintf(out, "  of %s %s %s %s\n", owner.APIVersion, owner.Kind, owner.Name, owner.UID)
			}
		}
	}
}

// stateChanges change states. What is about a pod is written pod:value.
var stateChanges = map[string]func(s *Snapshot, values []string){
	"release":   func(s *Snapshot, _ []string) { s.Features = FeaturesOf(podwright.Release19) },
	"feature":   func(s *Snapshot, names []string) { switchFeatures(s, names, true) },
	"noFeature": func(s *Snapshot, names []string) { switchFeatures(s, names, false) },
	"deleting":  func(s *Snapshot, _ []string) { s.Set.DeletionTimestamp = &metav1.Time{Time: testTime} },
	"selector": func(s *Snapshot, values []string) {
		odd := []metav1.LabelSelectorRequirement{{Key: "app", Operator: "x"}}
		s.Set.Spec.Selector = map[string]*metav1.LabelSelector{"empty": {}, "odd": {MatchExpressions: odd}}[values[0]]
	},
	"setAnnotation": func(s *Snapshot, values []string) {
		key, value, _ := strings.Cut(values[0], ":")
		s.Set.Annotations = map[string]string{key: value}
	},
	"templateVolumes": func(s *Snapshot, names []string) {
		for _, name := range names {
			s.Set.Spec.Template.Spec.Volumes = append(s.Set.Spec.Template.Spec.Volumes, corev1.Volume{Name: name})
		}
	},
	"claimLabels": func(s *Snapshot, values []string) { // of the claim template
		labels := map[string]string{}
		for _, value := range values {
			key, value, _ := strings.Cut(value, ":")
			labels[key] = value
		}
		s.Set.Spec.VolumeClaimTemplates[0].Labels = labels
	},
	"newGate": func(s *Snapshot, _ []string) {
		gates := &s.Set.Spec.Template.Spec.ReadinessGates
		*gates = append(*gates, corev1.PodReadinessGate{ConditionType: "more"})
	},
	"noStatus": func(s *Snapshot, _ []string) { s.Set.Status = v1beta1.StatefulSetStatus{} },
	"now":      func(s *Snapshot, values []string) { s.Now = s.Now.Add(duration(values[0])) },
	"orphanRevision": func(s *Snapshot, values []string) {
		for _, r := range s.Revisions {
			if letterOf(s, r.Name) == values[0] {
				r.OwnerReferences = nil
			}
		}
	},
	"noRevisions": func(s *Snapshot, _ []string) { s.Revisions = nil },
	"reserveEach": func(s *Snapshot, values []string) { // of so many ordinals
		for i := range numbers(values)[0] {
			s.Set.Spec.ReserveOrdinalRanges = append(s.Set.Spec.ReserveOrdinalRanges, intstr.FromInt(i))
		}
	},
	"bare": func(s *Snapshot, _ []string) { // without strategy, policy and service
		s.Set.Spec.UpdateStrategy.RollingUpdate, s.Set.Spec.PodManagementPolicy, s.Set.Spec.ServiceName = nil, "", ""
	},
	"spoilRevision": func(s *Snapshot, _ []string) { s.Revisions[0].Data.Raw = []byte("{") },

	// Hooks that the label hold=true holds, and pods that have it.
	"hooks":           func(s *Snapshot, values []string) { hooked(numbers(values)...)(s) },
	"markPodNotReady": func(s *Snapshot, _ []string) { markPodNotReady(s) },

	// Pods.
	"mark": func(s *Snapshot, values []string) { // for deletion, as users do
		for _, i := range numbers(values) {
			s.Pods[i].Labels["apps.kruise.io/specified-delete"] = ""
		}
	},
	"podName": ofPod(func(s *Snapshot, pod *corev1.Pod, value string) { pod.Name = value }),
	"state":   ofPod(func(_ *Snapshot, pod *corev1.Pod, value string) { pod.Labels[lifecyclev1alpha1.StateLabel] = value }),
	"podLabel": ofPod(func(_ *Snapshot, pod *corev1.Pod, value string) {
		key, value, _ := strings.Cut(value, ":")
		if delete(pod.Labels, key); value != "" {
			pod.Labels[key] = value
		}
	}),
	"record": ofPod(func(_ *Snapshot, pod *corev1.Pod, key string) { // that cannot be read
		if pod.Annotations[inplacev1alpha1.StateAnnotation] != "{" {
			pod.Annotations = map[string]string{}
		}
		pod.Annotations["apps.kruise.io/inplace-update-"+key] = "{"
	}),
	"updating": ofPod(func(_ *Snapshot, pod *corev1.Pod, _ string) { // without the readiness gate: it stays ready
		pod.Spec.ReadinessGates = nil
		pod.Annotations = map[string]string{inplacev1alpha1.StateAnnotation: `{"revision":"x","lastContainerStatuses":{"main":{"imageID":"a"}}}`}
	}),
	"noNode": ofPod(func(_ *Snapshot, pod *corev1.Pod, _ string) { pod.Spec.NodeName = "" }),
	"readyFor": ofPod(func(s *Snapshot, pod *corev1.Pod, value string) {
		readiness.Condition(pod, corev1.PodReady).LastTransitionTime = metav1.NewTime(s.Now.Add(-duration(value)))
	}),
	"gateless": ofPod(func(_ *Snapshot, pod *corev1.Pod, _ string) { pod.Spec.ReadinessGates = nil }),
	"empty": ofPod(func(_ *Snapshot, pod *corev1.Pod, _ string) {
		pod.Labels, pod.Annotations, pod.Spec.Containers = nil, nil, nil
	}),
	"container": ofPod(func(_ *Snapshot, pod *corev1.Pod, value string) { pod.Spec.Containers[0].Name = value }),
	"ran": ofPod(func(_ *Snapshot, pod *corev1.Pod, _ string) {
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{RestartCount: 1}}
	}),
	"backOff": ofPod(func(s *Snapshot, pod *corev1.Pod, value string) {
		s.BackOff = map[string]time.Time{pod.Name: testTime.Add(duration(value))}
	}),
	"refused": ofPod(func(s *Snapshot, pod *corev1.Pod, value string) {
		no := errors.New("no")
		s.Refused = rollout.Refusals{Until: s.Now.Add(duration(value)), Pods: map[types.UID]error{pod.UID: no}, Err: no}
	}),
	"denied": ofPod(func(s *Snapshot, pod *corev1.Pod, _ string) {
		s.Refused.Denied = map[types.UID]rollout.Denial{pod.UID: {Budget: "web", Since: s.Now, Asked: s.Now}}
	}),

	// Claims: see claims and testClaim.
	"owners": func(s *Snapshot, values []string) { claims(values...)(s) },
	"claim": func(s *Snapshot, values []string) {
		ordinal, owners, _ := strings.Cut(values[0], ":")
		var all []metav1.OwnerReference
		for owner := range strings.SplitSeq(owners, "+") {
			all = append(all, testClaim(s, numbers([]string{ordinal})[0], owner).OwnerReferences...)
		}
		testClaim(s, numbers([]string{ordinal})[0], "").OwnerReferences = all
	},
	"noClaim": func(s *Snapshot, values []string) { delete(s.Claims, "data-web-"+values[0]) },
	"claimGoing": func(s *Snapshot, values []string) {
		s.Claims["data-web-"+values[0]].DeletionTimestamp = &metav1.Time{Time: testTime}
	},
	"claimName": func(s *Snapshot, values []string) {
		ordinal, name, _ := strings.Cut(values[0], ":")
		claim := s.Claims["data-web-"+ordinal]
		delete(s.Claims, claim.Name)
		claim.Name, s.Claims[name] = name, claim
	},
	"mounts": ofPod(func(_ *Snapshot, pod *corev1.Pod, value string) {
		pod.Spec.Volumes[0].PersistentVolumeClaim.ClaimName = value
	}),
	"volumeName": ofPod(func(_ *Snapshot, pod *corev1.Pod, value string) { pod.Spec.Volumes[0].Name = value }),
	"volume": ofPod(func(_ *Snapshot, pod *corev1.Pod, value string) { // before the others, and not of a claim
		pod.Spec.Volumes = slices.Insert(pod.Spec.Volumes, 0, corev1.Volume{Name: value})
	}),
	"onlyVolume": ofPod(func(_ *Snapshot, pod *corev1.Pod, value string) { pod.Spec.Volumes = []corev1.Volume{{Name: value}} }),

	// Claims that grow: see grown. grow=20:10,20/10 is about a template of 20Gi and two pods.
	"grow": func(s *Snapshot, values []string) {
		want, words, _ := strings.Cut(values[0], ":")
		grown(numbers([]string{want})[0], strings.ReplaceAll(words, ",", " "))(s)
	},
	"growLogs": func(s *Snapshot, values []string) { // the same of a second claim of the first pod
		want, word, _ := strings.Cut(values[0], ":")
		growLogs(s, numbers([]string{want})[0], word)
	},
	"launchPriority": func(s *Snapshot, values []string) { // of a second container
		s.Features.LaunchPriority = true
		s.Set.Spec.Template.Spec.Containers = append(s.Set.Spec.Template.Spec.Containers, corev1.Container{
			Name: "log", Image: "log:1", Env: []corev1.EnvVar{{Name: lifecyclev1alpha1.ContainerPriorityEnv, Value: values[0]}}})
	},
	"growWhen": func(s *Snapshot, values []string) {
		s.Set.Spec.VolumeClaimUpdateStrategy.Type = v1beta1.StatefulSetVolumeClaimUpdateStrategyType(values[0])
	},
	"class": func(s *Snapshot, values []string) {
		s.Classes["fast"] = map[string]*storagev1.StorageClass{"grows": {AllowVolumeExpansion: new(true)}, "rigid": {AllowVolumeExpansion: new(false)}, "silent": {}}[values[0]]
	},
	"nameless":     func(s *Snapshot, _ []string) { s.Set.Spec.VolumeClaimTemplates[0].Name, s.Claims = "", nil },
	"claimMessage": func(s *Snapshot, values []string) { s.Claims["data-web-0"].Status.Conditions[0].Message = values[0] },
	"observed": func(s *Snapshot, values []string) {
		s.Set.Generation, s.Set.Status.ObservedGeneration = 2, int64(numbers(values)[0])
	},
}

// ofPod changes the pod that a value names before a colon.
func ofPod(change func(s *Snapshot, pod *corev1.Pod, value string)) func(*Snapshot, []string) {
	return func(s *Snapshot, values []string) {
		for _, value := range values {
			pod, value, _ := strings.Cut(value, ":")
			change(s, s.Pods[numbers([]string{pod})[0]], value)
		}
	}
}

func numbers(texts []string) (all []int) {
	for _, text := range texts {
		n, err := strconv.Atoi(text)
		if err != nil {
			panic(err)
		}
		all = append(all, n)
	}
	return all
}

func duration(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		panic(err)
	}
	return d
}

func switchFeatures(s *Snapshot, names []string, on bool) {
	for _, name := range names {
		reflect.ValueOf(&s.Features).Elem().FieldByName(name).SetBool(on)
	}
}

// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/fakecluster/scheduler"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

const (
	rolling  = "spec: {updateStrategy: {rollingUpdate: {"
	two      = rolling + "maxUnavailable: 2}}}"
	inPlace  = rolling + "rollingUpdateType: InPlaceIfPossible, maxUnavailable: 2}}}"
	surge    = rolling + "maxSurge: 2}}}"
	paused   = rolling + "paused: true}}}"
	onDelete = "spec: {updateStrategy: {type: OnDelete}}"
	zoned    = "spec: {template: {spec: {nodeSelector: {zone: a}}}}"
	hook     = "spec: {lifecycle: {preDelete: {labelsHandler: {hook: 'true'}}}}"
)

// ready10 has pods count as available after ten seconds.
func ready10(text string) string {
	return strings.Replace(text, "spec: {", "spec: {minReadySeconds: 10, ", 1)
}

// TestPlans shows the plans for the states in testdata/plans.txt: nodes in the notation of place, and lines of the DaemonSet, see setOf.
// "waits" shows by which limit pods wait. Those in testdata/status.txt show the status, or the condition by which consumers wait. What follows a command
// changes the state: see changeState, and testdata/words.yaml.
func TestPlans(t *testing.T) {
	for _, file := range []string{"testdata/plans.txt", "testdata/status.txt"} {
		datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
			s := placeOf(t, d)
			switch d.Cmd {
			case "plan":
				return showPlan(t, s)
			case "waits":
				return showWaits(NewPlan(s))
			case "status":
				return showStatusOf(t, s, showStatus)
			default:
				return showStatusOf(t, s, forConsumers)
			}
		})
	}
}

// showPlan shows a plan, which is the same in whatever order caches list what there is.
func showPlan(t *testing.T, s *Snapshot) (out string) {
	t.Helper()
	plan := NewPlan(s)
	other := *s
	other.Pods, other.Nodes, other.Revisions = slices.Clone(s.Pods), slices.Clone(s.Nodes), slices.Clone(s.Revisions)
	slices.Reverse(other.Pods)
	slices.Reverse(other.Nodes)
	slices.Reverse(other.Revisions)
	if again := show(NewPlan(&other)); again != show(plan) && len(plan.Problems) == 0 {
		t.Errorf("in another order the plan is %s", again)
	}
	if text := show(plan); text != "" {
		out = text + "\n"
	}
	if plan.RequeueAfter > 0 {
		out += fmt.Sprintln("again after", plan.RequeueAfter)
	}
	return out
}

func showWaits(plan *Plan) (out string) {
	for _, w := range plan.Waiting {
		out += fmt.Sprintf("%s: %s, limit %d, observed %d\n", scheduler.NodeOf(w.Pod), w.Reason.Rule, w.Reason.Limit, w.Reason.Observed)
	}
	return out
}

// showStatusOf shows the planned status, which is the same in whatever order pods come, and is not written again.
func showStatusOf(t *testing.T, s *Snapshot, show func(*v1alpha1.DaemonSetStatus) string) string {
	t.Helper()
	status := NewPlan(s).Status
	slices.Reverse(s.Pods)
	if other := NewPlan(s).Status; show(status) != show(other) {
		t.Errorf("in another order of pods the status is %s", show(other))
	}
	s.Set.Status = *status
	if again := NewPlan(s).Status; again != nil {
		t.Errorf("written again: %+v", again)
	}
	if text := show(status); text != "" {
		return text + "\n"
	}
	return ""
}

// TestNewPod makes the pod of a node. (DS-2, DS-5, DS-7, DS-15)
func TestNewPod(t *testing.T) {
	set := setOf(t, strings.Replace(inPlace, "spec: {", `
metadata: {annotations: {deprecated.daemonset.template.generation: "7"}}
spec: {template: {spec: {hostNetwork: true, tolerations: [{key: mine, operator: Exists}, {key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 3}]}}, lifecycle: {preDelete: {markPodNotReady: true}}, `, 1))
	s := place(t, set, "n1 n2")
	plan := NewPlan(s)
	pod := plan.Create[0].Pod
	if pod.GenerateName != "web-" || !strings.HasPrefix(pod.Name, "web-") || pod.Name == plan.Create[1].Pod.Name {
		t.Errorf("names %s and %s", pod.Name, plan.Create[1].Pod.Name)
	}
	if pod.Labels["controller-revision-hash"] != plan.Status.DaemonSetHash || pod.Labels["pod-template-generation"] != "7" || pod.Labels["app"] != "web" {
		t.Errorf("labels %v", pod.Labels)
	}
	var keys []string
	for _, toleration := range pod.Spec.Tolerations {
		keys = append(keys, fmt.Sprint(strings.TrimPrefix(toleration.Key, "node.kubernetes.io/"), ":", toleration.Effect))
		if toleration.TolerationSeconds != nil {
			t.Errorf("%s is tolerated for %d s", toleration.Key, *toleration.TolerationSeconds)
		}
	}
	if got, want := strings.Join(keys, " "), "mine: not-ready:NoExecute unreachable:NoExecute disk-pressure:NoSchedule memory-pressure:NoSchedule pid-pressure:NoSchedule unschedulable:NoSchedule network-unavailable:NoSchedule"; got != want {
		t.Errorf("tolerations %s, want %s", got, want)
	}
	if gates := fmt.Sprint(pod.Spec.ReadinessGates); gates != "[{InPlaceUpdateReady} {KruisePodReady}]" {
		t.Errorf("gates %s", gates)
	}
	if pod.Spec.NodeName != "" || scheduler.NodeOf(pod) != "n1" {
		t.Errorf("it is for node %s, and on %s", scheduler.NodeOf(pod), pod.Spec.NodeName)
	}

	s.Features.AssignDirectly = true
	if direct := NewPlan(s).Create[0].Pod; direct.Spec.NodeName != "n1" || direct.Spec.SchedulerName != "kubernetes.io/daemonset-controller" || direct.Spec.Affinity != nil {
		t.Errorf("directly: on %s by %s, with %v", direct.Spec.NodeName, direct.Spec.SchedulerName, direct.Spec.Affinity)
	}
	s.Taken = map[string]bool{pod.Name: true}
	if other := NewPlan(s).Create[0].Pod; other.Name == pod.Name {
		t.Errorf("the name %s is somebody else's", other.Name)
	}
	s.RefusedNodes = map[string]bool{"n1": true}
	if first := scheduler.NodeOf(NewPlan(s).Create[0].Pod); first != "n2" {
		t.Errorf("%s comes first, though it was refused", first)
	}
}

// TestUnusable: what cannot be planned is reported, and nothing is done. (DS-1)
func TestUnusable(t *testing.T) {
	ending := place(t, newSet(), "n1 n2:v1")
	ending.Set.DeletionTimestamp = &metav1.Time{Time: noon}
	if plan := NewPlan(ending); show(plan) != "" || plan.Status != nil {
		t.Errorf("a DaemonSet that is being deleted: %s", plan)
	}
	all := place(t, newSet(), "n1 n2:v1")
	all.Set.Spec.Selector = &metav1.LabelSelector{}
	if plan := NewPlan(all); !plan.SelectsAll || len(plan.Create)+len(plan.Delete) > 0 {
		t.Errorf("a selector of everything: %s", plan)
	}
	for name, change := range map[string]func(*Snapshot){
		"no selector":  func(s *Snapshot) { s.Set.Spec.Selector = nil },
		"other labels": func(s *Snapshot) { s.Set.Spec.Template.Labels = map[string]string{"app": "db"} },
	} {
		s := place(t, newSet(), "n1 n2:v2")
		change(s)
		if plan := NewPlan(s); len(plan.Problems) == 0 || len(plan.Create)+len(plan.Delete) > 0 {
			t.Errorf("%s: %s", name, plan)
		}
	}
}

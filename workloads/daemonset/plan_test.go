// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/testing/conformance/snapshots"
	"github.com/podwright/podwright/internal/testing/fakecluster/scheduler"
	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

const (
	rolling = "spec: {updateStrategy: {rollingUpdate: {"
	two     = rolling + "maxUnavailable: 2}}}"
	inPlace = rolling + "rollingUpdateType: InPlaceIfPossible, maxUnavailable: 2}}}"
)

// ready10 has pods count as available after ten seconds.
func ready10(text string) string {
	return strings.Replace(text, "spec: {", "spec: {minReadySeconds: 10, ", 1)
}

// TestPlans shows the plans for the states in testdata/plans.txt: nodes in the notation of place, and lines of the DaemonSet, see setOf.
// "creates" shows new pods, "names" the name of the first one, and "waits" by which limit pods wait. Those in testdata/status.txt show the
// status, or its conditions. What follows a command changes the state: see changeState, and testdata/words.yaml.
func TestPlans(t *testing.T) {
	for _, file := range []string{"testdata/plans.txt", "testdata/status.txt"} {
		datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
			s := placeOf(t, d)
			switch d.Cmd {
			case "plan":
				return showPlan(t, s)
			case "creates":
				return showCreations(t, NewPlan(s))
			case "names":
				return NewPlan(s).Create[0].Pod.Name
			case "waits":
				return showWaits(NewPlan(s))
			case "status":
				return showStatusOf(t, s, showStatus)
			default:
				return showStatusOf(t, s, showConditions)
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
	if plan.SelectsAll {
		out += "selects all pods\n"
	}
	if plan.RequeueAfter > 0 {
		out += fmt.Sprintln("again after", plan.RequeueAfter)
	}
	return out
}

// showCreations shows the pods that are created, without their containers.
func showCreations(t *testing.T, plan *Plan) string {
	var all []corev1.Pod
	for _, c := range plan.Create {
		pod := c.Pod.DeepCopy()
		pod.Spec.Containers = nil
		all = append(all, *pod)
	}
	data, err := yaml.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
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

// showConditions shows the conditions of a status.
func showConditions(s *v1alpha1.DaemonSetStatus) string {
	var all []string
	for _, c := range s.Conditions {
		all = append(all, strings.TrimSpace(fmt.Sprint(string(c.Type), " ", c.Status, " ", c.Reason)))
	}
	return strings.Join(all, "\n")
}

func TestSnapshots(t *testing.T) {
	snapshots.Check(t, NewPlan, func() *Snapshot {
		return place(t, setOf(t, inPlace), "n1:v1 n2:v1+down n3 n4:v2")
	})
}

// A release switches what it does by default. (DS-25)
func TestFeaturesOf(t *testing.T) {
	if diff := cmp.Diff(Features{}, FeaturesOf(podwright.Release14)); diff != "" {
		t.Errorf("1.4 (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(Features{PartitionRoundsDown: true, PreDownloadSandboxConfig: true}, FeaturesOf(podwright.Release19)); diff != "" {
		t.Errorf("1.9 (-want +got):\n%s", diff)
	}
}

// TestReplace plays testdata/replace: each row is a Rollout, and shows what of it may be replaced.
func TestReplace(t *testing.T) {
	patches.PlayRows(t, "testdata/replace", func() Rollout { return Rollout{} }, func(_ *testing.T, _ string, row *Rollout) string {
		return fmt.Sprintf("%+v", row.Replace())
	})
}

// TestZeros: other tools read the numbers of a status, and take those that are missing for unknown. (DS-17)
func TestZeros(t *testing.T) {
	data, err := json.Marshal(&v1alpha1.DaemonSetStatus{})
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady", "updatedNumberScheduled", "numberAvailable", "numberUnavailable"} {
		if !strings.Contains(string(data), `"`+field+`":0`) {
			t.Errorf("%s is not in %s", field, data)
		}
	}
}

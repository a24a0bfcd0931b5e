// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/internal/heldup"
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

// checkWrittenOnce checks that a status is written if a number or a condition differs, and only then. (STS-S2)
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

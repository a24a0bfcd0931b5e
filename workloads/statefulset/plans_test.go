// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"encoding/json"
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

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/heldup"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/internal/testing/conformance/snapshots"
	"github.com/podwright/podwright/internal/testing/planbench"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// TestPlans plans for single states of the world, which the files in testdata/plans describe in a line each:
//
//	plan T/C pods… change…       the plan
//	reasons T/C pods… change…    why pods wait
//	status T/C pods… change…     the status that is written
//	revisions T/C pods… change…  what becomes of revisions
//	creates T/C pods… change…    the pods that are created, and their claims
//	patched T/C pods… change…    what the pods become that are patched: the labels that name them, conditions, and with how many requests
//	revision T/C pods… change…   the revision that is created, and the hash that pods have of it
//	held T/C pods… change…       how many objects keep it from its spec
//	window T/C change…           which ordinals are wanted, and the one behind them
//
// T is the revision of the template, C the current one. How a pod is written says stateOf. A change is a word of states or of StatefulSets,
// which testdata/words.yaml explains, or one of state.changed. With several values it is made for each.
func TestPlans(t *testing.T) {
	datadriven.Walk(t, "testdata/plans", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s := stateOf(t, d.CmdArgs)
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
			case "patched":
				showPatched(t, out, plan)
			case "revision":
				r := plan.Revisions.Create
				owners, _ := json.Marshal(r.OwnerReferences)
				fmt.Fprintf(out, "%s %d of %s\n%s\n", r.Name, r.Revision, owners, r.Data.Raw)
				for _, c := range plan.Create {
					fmt.Fprintln(out, "pods have", c.Pod.Labels[podplan.RevisionLabel])
				}
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

// showPatched writes what the pods become that a plan patches.
func showPatched(t *testing.T, out *strings.Builder, plan *Plan) {
	for _, p := range plan.Patch {
		pod, err := p.Patch.Apply(p.Pod)
		if err != nil {
			t.Fatal(err)
		}
		requests, _ := p.Patch.Writes(p.Pod)
		fmt.Fprintf(out, "%s %s, requests: %d\n", p.Kind, pod.Name, len(requests))
		for _, key := range []string{appsv1.PodIndexLabel, appsv1.StatefulSetPodNameLabel} {
			fmt.Fprintf(out, "  %s=%s\n", key, pod.Labels[key])
		}
		for _, c := range pod.Status.Conditions {
			fmt.Fprintf(out, "  %s=%s\n", c.Type, c.Status)
		}
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

// resized names the claims that a plan resizes.
func resized(p *Plan) string {
	var names []string
	for _, c := range p.ResizeClaims {
		names = append(names, strings.TrimPrefix(c.Claim.Name, "data-web-")+"="+c.Resources.Requests.Storage().String())
	}
	return strings.Join(names, " ")
}

// summary says in one line what a plan does.
func summary(s *Snapshot, p *Plan) string {
	var parts []string
	say := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	ordinal := func(name string) string { return strings.TrimPrefix(name, "web-") }
	for _, d := range p.Delete {
		say("delete %s %s", ordinal(d.Pod.Name), d.For)
	}
	for _, patch := range p.Patch {
		say("%s %s", patch.Kind, ordinal(patch.Pod.Name))
	}
	for _, claim := range p.PatchClaims {
		say("own %s", claimOwners(claim))
	}
	for _, d := range p.Delete {
		for _, claim := range d.ChangeClaims {
			say("own %s", claimOwners(claim))
		}
	}
	for _, claim := range p.CreateClaims {
		say("claim %s", claim.Name)
	}
	for _, c := range p.Create {
		letter := letterOf(s, c.Pod.Labels[podplan.RevisionLabel])
		if p.Revisions.Create != nil && c.Pod.Labels[podplan.RevisionLabel] == p.Revisions.Create.Name {
			letter = "new"
		}
		say("create %s%s", ordinal(c.Pod.Name), letter)
	}
	for _, d := range p.Otherwise.Delete {
		say("otherwise delete %s %s", ordinal(d.Pod.Name), d.For)
	}
	for _, patch := range p.Otherwise.Patch {
		say("otherwise %s %s", patch.Kind, ordinal(patch.Pod.Name))
	}
	return strings.Join(parts, ", ")
}

func claimOwners(c rollout.ClaimPatch) string {
	kinds := []string{}
	for _, o := range c.Owners {
		kinds = append(kinds, o.Kind)
	}
	return c.Claim.Name + "=" + strings.Join(kinds, "+")
}

// waits says why pods wait: the rule, and for which pods.
func waits(p *Plan) string {
	byRule := map[string][]string{}
	for _, w := range p.Waiting {
		who := "new"
		if w.Pod != nil {
			who = strings.TrimPrefix(w.Pod.Name, "web-")
		}
		byRule[string(w.Reason.Rule)] = append(byRule[string(w.Reason.Rule)], who)
	}
	var parts []string
	for _, rule := range slices.Sorted(maps.Keys(byRule)) {
		parts = append(parts, rule+" "+strings.Join(byRule[rule], " "))
	}
	return strings.Join(parts, ", ")
}

func TestSnapshots(t *testing.T) {
	snapshots.Check(t, NewPlan, func() *Snapshot {
		return testSnapshot(t, "B/A 0A 1B 3A replicas=3 claimed")
	})
}

// TestAMillionReplicas plans for as many pods as a StatefulSet may have. One user must not have the controller of all others busy
// for long. A plan allocates for each pod as little as one for a tenth of them does.
func TestAMillionReplicas(t *testing.T) {
	allocations := func(n int32) float64 {
		s := testSnapshot(t, fmt.Sprint("A/A 0A 1A replicas=", n))
		return testing.AllocsPerRun(1, func() {
			if plan := NewPlan(s); len(plan.Create) == 0 || len(plan.Problems) > 0 {
				t.Fatalf("%d pods, problems: %v", len(plan.Create), planbench.Problems(plan.Problems))
			}
		})
	}
	tenth, whole := allocations(mostReplicas/10), allocations(mostReplicas)
	t.Logf("%.0f and %.0f allocations", tenth, whole)
	if whole > 11*tenth {
		t.Errorf("%.0f allocations for %d pods, %.0f for a tenth of them", whole, mostReplicas, tenth)
	}
}

// SPDX-License-Identifier: Apache-2.0

package budget_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/availability/budget"
	"github.com/podwright/podwright/availability/v1alpha1"
)

func TestDecide(t *testing.T) {
	recorded := func(uid types.UID, update bool) func(*v1alpha1.PodUnavailableBudget) {
		return status(func(s *v1alpha1.PodUnavailableBudgetStatus) {
			records := map[string]metav1.Time{"pod": metav1.NewTime(start)}
			if s.DisruptedPods = records; update {
				s.DisruptedPods, s.UnavailablePods = nil, records
			}
			s.UnavailableAllowed = 0
			if uid != "" {
				s.PodUIDs = map[string]types.UID{"pod": uid}
			}
		})
	}
	many := func(n int) func(*v1alpha1.PodUnavailableBudget) {
		return status(func(s *v1alpha1.PodUnavailableBudgetStatus) {
			s.DisruptedPods, s.UnavailablePods = map[string]metav1.Time{}, map[string]metav1.Time{"x": {}}
			for i := range n - 1 {
				s.DisruptedPods[fmt.Sprint(i)] = metav1.NewTime(start)
			}
		})
	}
	left := func(n int32) func(*v1alpha1.PodUnavailableBudget) {
		return status(func(s *v1alpha1.PodUnavailableBudgetStatus) { s.UnavailableAllowed = n })
	}
	available := func(n int32) func(*v1alpha1.PodUnavailableBudget) {
		return status(func(s *v1alpha1.PodUnavailableBudgetStatus) { s.CurrentAvailable = n })
	}
	total := func(n int32) func(*v1alpha1.PodUnavailableBudget) {
		return status(func(s *v1alpha1.PodUnavailableBudgetStatus) { s.TotalReplicas = n })
	}
	nothingDesired := status(func(s *v1alpha1.PodUnavailableBudgetStatus) { s.DesiredAvailable, s.UnavailableAllowed = 0, 0 })
	older := func(b *v1alpha1.PodUnavailableBudget) { b.Generation++ }
	bookedSince := func(seconds int) func(*v1alpha1.PodUnavailableBudget) {
		return status(func(s *v1alpha1.PodUnavailableBudgetStatus) {
			s.BookedSince = map[string]metav1.Time{"pod": metav1.NewTime(after(seconds))}
		})
	}
	waiting := status(func(s *v1alpha1.PodUnavailableBudgetStatus) { s.PodUIDs = map[string]types.UID{"pod": "uid-pod"} })
	noStatus := func(b *v1alpha1.PodUnavailableBudget) { b.Status = v1alpha1.PodUnavailableBudgetStatus{} }
	pod, full := newPod("pod"), newBudget(left(0))
	const no = budget.ReasonNothingAllowed
	const update, remove, evict = v1alpha1.PubUpdateOperation, v1alpha1.PubDeleteOperation, v1alpha1.PubEvictOperation
	for _, tt := range []struct {
		name      string
		budget    *v1alpha1.PodUnavailableBudget
		pod       *corev1.Pod
		operation v1alpha1.PubOperation
		want      string // the reason of a denial, or what is written
	}{
		{"PUB-14.1: of no budget", full, newPod("pod", annotate(v1alpha1.RelatedPubAnnotation, "")), remove, "allowed"},
		{"PUB-14.2: not to be protected", full, newPod("pod", annotate(v1alpha1.PodPubNoProtectionAnnotation, "true")), remove, "allowed"},
		{"PUB-14.2: another value", full, newPod("pod", annotate(v1alpha1.PodPubNoProtectionAnnotation, "yes")), remove, no},
		{"PUB-14.3: not ready", full, newPod("pod", unready), remove, "allowed"},
		{"PUB-14.3: not ready, and to be evicted", full, newPod("pod", unready), evict, "10 available, 9 desired, 0 allowed; disrupted [pod]"},
		{"PUB-14.3: not ready, to be evicted and recorded", newBudget(recorded(pod.UID, true)), newPod("pod", unready), evict, "10 available, 9 desired, 0 allowed; updated [pod]"},
		{"PUB-14.3: not ready, to be evicted, and too many", newBudget(many(2001)), newPod("pod", unready), evict, "allowed"},
		{"PUB-14.3: not ready, to be evicted, of another operation", newBudget(left(0), protecting("DELETE")), newPod("pod", unready), evict, "allowed"},
		{"PUB-14.3: not ready, to be evicted before the first status", newBudget(noStatus), newPod("pod", unready), evict, "allowed"},
		{"PUB-14.3: not ready, to be evicted, nothing desired", newBudget(nothingDesired), newPod("pod", unready), evict, "allowed"},
		{"PUB-14.3: not ready, to be evicted, of no budget", nil, newPod("pod", unready), evict, "allowed"},
		{"PUB-14.3: being deleted", full, newPod("pod", deleting), remove, "allowed"},
		{"PUB-14.3: being deleted, and to be evicted", full, newPod("pod", deleting), evict, "allowed"},
		{"PUB-14.4: the budget is gone", nil, pod, remove, "allowed"},
		{"PUB-14.5: another operation", newBudget(left(0), protecting("EVICT,UPDATE")), pod, remove, "allowed"},
		{"PUB-14.5: this operation", newBudget(left(0), protecting("EVICT,DELETE")), pod, remove, no},
		{"PUB-14.5: empty is all", newBudget(left(0), protecting("")), pod, update, no},
		{"PUB-14.5: before the first status", newBudget(noStatus, protecting("EVICT")), pod, remove, "allowed"},
		{"PUB-14.6: no status yet", newBudget(noStatus), pod, remove, budget.ReasonNoStatusYet},
		{"PUB-14.6: of an older generation", newBudget(older), pod, remove, budget.ReasonChanged},
		{"PUB-14.6: of an older generation, when nothing was desired", newBudget(nothingDesired, older), pod, evict, budget.ReasonChanged},
		{"PUB-14.3: not ready, of an older generation, when nothing was desired", newBudget(nothingDesired, older), newPod("pod", unready), evict, "10 available, 0 desired, 0 allowed; disrupted [pod]"},
		{"PUB-14.4: another budget, and it names this one no more", full, newPod("pod", annotate(v1alpha1.RelatedPubAnnotation, "other")), remove, "allowed"},
		{"PUB-35: released", full, newPod("pod", bare), remove, "allowed"},
		{"PUB-35: of another workload of the kind", full, newPod("pod", controlledBy("apps.kruise.io/v1alpha1", "CloneSet", "other")), remove, "allowed"},
		{"PUB-35: of its own", full, newPod("pod", controlledBy("apps.kruise.io/v1beta1", "CloneSet", "web")), remove, no},
		{"PUB-35: of a kind of which nothing tells what controls it", full, newPod("pod", controlledBy("batch/v1", "Job", "other")), remove, "allowed"},
		{"PUB-35: of another kind, which it may come from", full, newPod("pod", controlledBy("apps/v1", "ReplicaSet", "other")), remove, no},
		{"PUB-35: out of the selector", newBudget(left(0), selecting(map[string]string{"app": "web"})), newPod("pod", label("app", "debug")), remove, "allowed"},
		{"PUB-14.7: nothing desired", newBudget(nothingDesired), pod, evict, "allowed"},
		{"PUB-14.8: recorded", newBudget(recorded(pod.UID, false)), pod, evict, "10 available, 9 desired, 0 allowed; disrupted [pod]"},
		{"PUB-14.8: recorded for an update", newBudget(recorded(pod.UID, true)), pod, remove, "10 available, 9 desired, 0 allowed; updated [pod]"},
		{"PUB-14.8: recorded, and asked about for a minute", newBudget(recorded(pod.UID, false), bookedSince(-59)), pod, evict, "10 available, 9 desired, 0 allowed; disrupted [pod]"},
		{"PUB-14.8: for longer", newBudget(recorded(pod.UID, false), bookedSince(-60)), pod, evict, no},
		{"PUB-14.8: for longer, and there is room", newBudget(recorded(pod.UID, false), bookedSince(-60), left(1)), pod, evict, "9 available, 9 desired, 0 allowed; disrupted [pod]"},
		{"PUB-14.8: which waits", newBudget(bookedSince(-19), waiting), pod, evict, budget.ReasonOthersFirst},
		{"PUB-14.8: which has waited", newBudget(bookedSince(-20), waiting), pod, evict, "9 available, 9 desired, 0 allowed; disrupted [pod]"},
		{"PUB-14.8: one of the name waited", newBudget(bookedSince(-19)), pod, evict, "9 available, 9 desired, 0 allowed; disrupted [pod]"},
		{"PUB-16: by name only", newBudget(recorded("", false)), pod, remove, "10 available, 9 desired, 0 allowed; disrupted [pod]"},
		{"PUB-16: the one before", newBudget(recorded("another", false)), pod, remove, no},
		{"PUB-16: the one before, for a deletion, and this one for an update", newBudget(recorded("another", false), left(1)), pod, update, "9 available, 9 desired, 0 allowed; updated [pod]"},
		{"PUB-16: the one before, for an update, and this one for a deletion", newBudget(recorded("another", true), left(1)), pod, remove, "9 available, 9 desired, 0 allowed; disrupted [pod]"},
		{"PUB-14.9: nothing left", full, pod, evict, no},
		{"PUB-14.9: less than nothing", newBudget(left(-3)), pod, update, no},
		{"PUB-14.9: marked, and replaced", full, newPod("pod", marked), remove, "9 available, 9 desired, 0 allowed; disrupted [pod]"},
		{"PUB-14.9: marked, and missing then", newBudget(left(0), available(9)), newPod("pod", marked), remove, no},
		{"PUB-14.10: too many", newBudget(many(2001)), pod, remove, budget.ReasonTooManyRecords},
		{"PUB-14.10: just not", newBudget(many(2000), left(5), available(20)), newPod("y"), remove, "19 available, 9 desired, 4 allowed; disrupted 2000"},
		{"PUB-14.11: deleted", newBudget(), pod, remove, "9 available, 9 desired, 0 allowed; disrupted [pod]"},
		{"PUB-14.11: evicted", newBudget(), pod, evict, "9 available, 9 desired, 0 allowed; disrupted [pod]"},
		{"PUB-14.11: updated", newBudget(), pod, update, "9 available, 9 desired, 0 allowed; updated [pod]"},
		{"PUB-14.11: marked, with more left", newBudget(left(1), available(11)), newPod("pod", marked), remove, "10 available, 9 desired, 1 allowed; disrupted [pod]"},
		{"PUB-14.11: marked, perhaps since it was counted", newBudget(left(1), available(11), total(9)), newPod("pod", marked), remove, "10 available, 9 desired, 0 allowed; disrupted [pod]"},
		{"PUB-14.11: marked, and others may go without it", newBudget(left(2), available(12)), newPod("pod", marked), remove, "11 available, 9 desired, 1 allowed; disrupted [pod]"},
		{"PUB-14.11: marked, the last one", newBudget(left(1), available(10)), newPod("pod", marked), remove, "9 available, 9 desired, 0 allowed; disrupted [pod]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := tt.budget.DeepCopy()
			d := budget.Decide(tt.budget, tt.pod, budget.Request{Operation: tt.operation, Now: after(1)})
			got := d.Reason
			if d.Allowed {
				got = "allowed"
			}
			if s := d.Status; s != nil {
				got = numbers(s)
				for kind, records := range map[string]map[string]metav1.Time{"disrupted": s.DisruptedPods, "updated": s.UnavailablePods} {
					if names := slices.Sorted(maps.Keys(records)); len(names) > 10 {
						got += fmt.Sprintf("; %s %d", kind, len(names))
					} else if at, found := records[tt.pod.Name]; found && at.Time.Equal(after(1)) && s.PodUIDs[tt.pod.Name] == tt.pod.UID {
						got += fmt.Sprintf("; %s %v", kind, names)
					}
				}
			}
			if got != tt.want || d.Reason == "" || d.Status != nil && !d.Allowed {
				t.Errorf("got %q (%s), want %q", got, d.Reason, tt.want)
			}
			dry := budget.Decide(tt.budget, tt.pod, budget.Request{Operation: tt.operation, Now: after(1), DryRun: true})
			if dry.Allowed != d.Allowed || dry.Reason != d.Reason || dry.Status != nil {
				t.Errorf("PUB-15: %+v", dry)
			}
			if before != nil && !budget.Equal(&before.Status, &tt.budget.Status) {
				t.Error("the budget has changed")
			}
		})
	}
}

// TestBookedSince: since when a pod is recorded that is asked about again, seconds from the start; nil if that is the time of its record.
func TestBookedSince(t *testing.T) {
	const evict = v1alpha1.PubEvictOperation
	at := func(seconds int) map[string]metav1.Time {
		return map[string]metav1.Time{"pod": metav1.NewTime(after(seconds))}
	}
	for _, tt := range []struct {
		name              string
		disrupted, booked map[string]metav1.Time
		uid               types.UID
		pod               *corev1.Pod
		want              map[string]metav1.Time
	}{
		{"PUB-14.8: again", at(0), nil, "uid-pod", newPod("pod"), at(0)},
		{"PUB-14.8: once more", at(0), at(-30), "uid-pod", newPod("pod"), at(-30)},
		{"PUB-14.8: not ready, and longer than a minute", at(0), at(-90), "uid-pod", newPod("pod", unready), at(-90)},
		{"PUB-14.8: not ready, and it waits", nil, at(-10), "uid-pod", newPod("pod", unready), at(-10)},
		{"PUB-14.3: not ready, for the first time", nil, nil, "", newPod("pod", unready), nil},
		{"PUB-16: not ready, and one of the name was recorded", at(0), at(-30), "another", newPod("pod", unready), nil},
		{"PUB-16: not ready, and one of the name waits", nil, at(-10), "another", newPod("pod", unready), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBudget(status(func(s *v1alpha1.PodUnavailableBudgetStatus) {
				s.DisruptedPods, s.BookedSince = tt.disrupted, tt.booked
				if tt.uid != "" {
					s.PodUIDs = map[string]types.UID{"pod": tt.uid}
				}
			}))
			d := budget.Decide(b, tt.pod, budget.Request{Operation: evict, Now: after(1)})
			if d.Status == nil || len(d.Status.DisruptedPods) != 1 {
				t.Fatalf("%+v, want the pod recorded", d)
			}
			if !maps.EqualFunc(d.Status.BookedSince, tt.want, func(a, b metav1.Time) bool { return a.Equal(&b) }) {
				t.Errorf("since %v, want %v", d.Status.BookedSince, tt.want)
			}
		})
	}
}

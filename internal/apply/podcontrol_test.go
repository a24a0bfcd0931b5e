// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/podplan"
)

// forUpdate are a patch, and a deletion, that update pods.
func forUpdate(pods []*corev1.Pod) *rollout.Plan {
	plan := &rollout.Plan{}
	plan.Patch = []rollout.PodPatch{{Pod: pods[0], Patch: label("a", "b"), Kind: rollout.PatchUpdateInPlace, ForUpdate: true}}
	plan.Delete = []rollout.PodDeletion{{Pod: pods[1], For: rollout.DeleteForUpdate}}
	return plan
}

// The budget is asked about updates that take pods out of service, and about nothing else. (CT-10)
func TestBudgetOfUpdates(t *testing.T) {
	both := []string{"web-0", "web-1"}
	for _, test := range []struct {
		name       string
		budget     Budget
		set        func(*rollout.Plan)
		asked      []string
		want       []string
		conditions []string
	}{
		{"no budget", nil, nil, nil, []string{"delete pods web-1", "patch pods web-0"}, nil},
		{"CT-10: allowed", budget(func(*corev1.Pod) (bool, error) { return true, nil }), nil, both, []string{"delete pods web-1", "patch pods web-0"}, nil},
		{"CT-10: denied", budget(func(*corev1.Pod) (bool, error) { return false, nil }), nil, both, nil, nil},
		{"CT-10: whether it is allowed is unknown, for the other pod, too", budget(func(*corev1.Pod) (bool, error) { return true, errLost }), nil, []string{"web-1"}, nil,
			[]string{"FailedUpdate: " + errLost.Error()}},
		{"CT-10: the patch leaves the pod in service", budget(func(*corev1.Pod) (bool, error) { return false, nil }),
			func(p *rollout.Plan) { p.Patch[0].InService = true }, []string{"web-1"}, []string{"patch pods web-0"}, nil},
		{"CT-10: they are no updates", budget(func(*corev1.Pod) (bool, error) { return false, nil }), func(p *rollout.Plan) {
			p.Patch[0].ForUpdate, p.Delete[0].For = false, rollout.DeleteForScale
		}, nil, []string{"delete pods web-1", "patch pods web-0"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newFixture(t)
			a := s.applier(forUpdate(s.existing("web-0", "web-1")))
			if test.set != nil {
				test.set(a.Plan)
			}
			var asked []string
			if a.Status = nil; test.budget != nil {
				a.Budget = budget(func(pod *corev1.Pod) (bool, error) {
					asked = append(asked, pod.Name)
					return test.budget.AllowUpdate(t.Context(), pod)
				})
			}
			_ = a.ApplyPods(t.Context(), a)
			slices.Sort(asked)
			if diff := cmp.Diff(test.want, s.requests()); diff != "" || !slices.Equal(asked, test.asked) {
				t.Errorf("asked about %q, want %q; requests (-want +got):\n%s", asked, test.asked, diff)
			}
			s.must(a.Report(t.Context()))
			if _, conditions := s.reported(); !slices.Equal(conditions, test.conditions) {
				t.Errorf("conditions %q, want %q", conditions, test.conditions)
			}
		})
	}
}

// kindControl is the control of a kind: it notes what it is called for.
type kindControl struct {
	PodControl
	called chan string
}

func (k kindControl) Create(ctx context.Context, c *rollout.PodCreation) error {
	k.called <- "create " + c.Pod.Name
	return k.PodControl.Create(ctx, c)
}

func (k kindControl) Delete(ctx context.Context, d *rollout.PodDeletion) (bool, error) {
	k.called <- "delete " + d.Pod.Name
	return k.PodControl.Delete(ctx, d)
}

func (k kindControl) Patch(ctx context.Context, p *rollout.PodPatch) error {
	k.called <- "patch " + p.Pod.Name
	return k.PodControl.Patch(ctx, p)
}

// Every pod of a stage goes through the kind's control. A failure of one stops none of the others, and the condition of what it was
// for says so. (CS-16, CS-S2)
func TestApplyPods(t *testing.T) {
	for _, test := range []struct {
		name       string
		fail       string
		reason     rollout.DeletionReason
		conditions []string
	}{
		{"CS-16: all is done", "", rollout.DeleteForScale, nil},
		{"CS-S2: a creation fails", "create pods", rollout.DeleteForScale, []string{"FailedCreate: create pod web-9: " + errQuota.Error()}},
		{"CS-S2: a deletion fails", "delete pods", rollout.DeleteForScale, []string{"FailedDelete: delete pod web-1: " + errQuota.Error()}},
		{"CS-S2: a deletion for an update fails", "delete pods", rollout.DeleteForUpdate, []string{"FailedUpdate: delete pod web-1: " + errQuota.Error()}},
		{"CS-S2: a patch fails", "patch pods", rollout.DeleteForScale, []string{"FailedUpdate: patch pod web-0 (UpdateInPlace): " + errQuota.Error()}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newFixture(t)
			a := s.applier(forUpdate(s.existing("web-0", "web-1")))
			a.Status, a.Plan.Delete[0].For, a.Plan.Create = nil, test.reason, []rollout.PodCreation{{Pod: pod("web-9")}}
			if test.fail != "" {
				s.fail(test.fail, errQuota)
			}
			control := kindControl{a, make(chan string, 9)}
			if err := a.ApplyPods(t.Context(), control); (err != nil) != (test.fail != "") {
				t.Errorf("error %v", err)
			}
			close(control.called)
			var called []string
			for call := range control.called {
				called = append(called, call)
			}
			if diff := cmp.Diff([]string{"delete web-1", "patch web-0", "create web-9"}, called); diff != "" {
				t.Errorf("called (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"create pods", "delete pods web-1", "patch pods web-0"}, s.requests()); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			s.must(a.Report(t.Context()))
			if _, conditions := s.reported(); !slices.Equal(conditions, test.conditions) {
				t.Errorf("conditions %q, want %q", conditions, test.conditions)
			}
		})
	}
}

// A pod stays until its claims say whose they are. (STS-23)
func TestClaimsBeforeTheirPod(t *testing.T) {
	for fails, want := range map[bool][]string{
		false: {"delete pods web-0", "patch persistentvolumeclaims data-web-0"},
		true:  {"patch persistentvolumeclaims data-web-0"},
	} {
		s := newFixture(t)
		s.existingClaim("data-web-0", nil)
		live, err := s.user.CoreV1().PersistentVolumeClaims("shop").Get(t.Context(), "data-web-0", metav1.GetOptions{})
		s.must(err)
		if fails {
			s.fail("patch persistentvolumeclaims", errQuota)
		}
		a := s.applier(&rollout.Plan{})
		a.Plan.Delete = []rollout.PodDeletion{{Pod: s.existing("web-0")[0], For: rollout.DeleteForScale,
			ChangeClaims: []rollout.ClaimPatch{{Claim: live, Owners: []metav1.OwnerReference{owner("set")}}}}}
		if err := a.ApplyPods(t.Context(), a); (err != nil) != fails {
			t.Errorf("the claim fails: %t, error %v", fails, err)
		}
		if diff := cmp.Diff(want, s.requests()); diff != "" {
			t.Errorf("the claim fails: %t, requests (-want +got):\n%s", fails, diff)
		}
	}
}

// What a deletion is for says which event tells of it, and what follows.
func TestDeletionsOfAPlan(t *testing.T) {
	for _, test := range []struct {
		name      string
		deletion  rollout.PodDeletion
		recreates bool
		set       func(*fixture)
		want      []string // events
		deleted   bool
		fails     bool
	}{
		{"it is not wanted", rollout.PodDeletion{For: rollout.DeleteForScale}, true, nil, []string{"Normal SuccessfulDelete: deleted pod web-0"}, true, false},
		{"it is updated", rollout.PodDeletion{For: rollout.DeleteForUpdate}, false, nil, []string{"Normal SuccessfulDelete: deleted pod web-0"}, true, false},
		{"it is updated, by a kind that tells of it apart", rollout.PodDeletion{For: rollout.DeleteForUpdate}, true, nil,
			[]string{"Normal SuccessfulUpdatePodReCreate: deleted pod web-0"}, true, false},
		{"it has ended", rollout.PodDeletion{For: rollout.DeleteFailed}, false, nil,
			[]string{"Warning RecreatingFailedPod: Pod web-0 has ended (Pending) and is recreated", "Normal SuccessfulDelete: deleted pod web-0"}, true, false},
		{"CT-6: the selector does not match it", rollout.PodDeletion{For: rollout.DeleteUnselected}, false, nil,
			[]string{"Normal SuccessfulDelete: deleted pod web-0"}, true, true},
		{"it is gone", rollout.PodDeletion{For: rollout.DeleteForScale}, false, func(s *fixture) { s.remove("web-0") }, nil, false, false},
		{"it is not as it was observed", rollout.PodDeletion{For: rollout.DeleteForScale, Unchanged: true}, false, func(s *fixture) {
			_, err := s.user.CoreV1().Pods("shop").Patch(s.t.Context(), "web-0", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{})
			s.must(err)
		}, nil, false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newFixture(t)
			test.deletion.Pod = s.existing("web-0")[0]
			if test.set != nil {
				test.set(s)
			}
			a := s.applier(&rollout.Plan{})
			a.Reporting.Recreates = test.recreates
			deleted, err := a.Delete(t.Context(), &test.deletion)
			if deleted != test.deleted || (err != nil) != test.fails {
				t.Errorf("deleted %t, error %v", deleted, err)
			}
			if diff := cmp.Diff(test.want, s.events.events); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			waits := s.misfits.waits(s.set, s.now()) != nil
			if unselected := test.deletion.For == rollout.DeleteUnselected; waits != unselected {
				t.Errorf("creations wait: %t, want %t", waits, unselected)
			}
		})
	}
}

// Updates that are refused are remembered, and no others. (IP-39)
func TestUpdatesThatAreRefused(t *testing.T) {
	for _, test := range []struct {
		name, fail string
		set        func(*rollout.Plan)
		want       []string
	}{
		{"IP-39: none is", "", nil, nil},
		{"IP-39: a patch", "patch pods", nil, []string{"web-0"}},
		{"IP-39: a deletion", "delete pods", nil, []string{"web-1"}},
		{"a patch that is for no update", "patch pods", func(p *rollout.Plan) { p.Patch[0].ForUpdate = false }, nil},
		{"a deletion that is for no update", "delete pods", func(p *rollout.Plan) { p.Delete[0].For = rollout.DeleteForScale }, nil},
		{"IP-39: a resize that is left of an update", "patch pods", func(p *rollout.Plan) {
			p.Patch[0].ForUpdate, p.Patch[0].Patch = false, resized()
		}, []string{"web-0"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newFixture(t)
			pods := s.existing("web-0", "web-1")
			a := s.applier(forUpdate(pods))
			if test.set != nil {
				test.set(a.Plan)
			}
			if test.fail != "" {
				s.fail(test.fail, errQuota)
			}
			_ = a.ApplyPods(t.Context(), a)
			refused := s.Refused(s.set, pods, a.Now)
			var got []string
			for _, pod := range pods {
				if refused.Pods[pod.UID] != nil {
					got = append(got, pod.Name)
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("refused %q, want %q", got, test.want)
			}
		})
	}
}

// A kind names what an update changes in a pod: if that has changed since, the update was made although it seemed to be refused. (IP-39)
func TestVersionedBy(t *testing.T) {
	p := pod("web-0")
	p.Labels = map[string]string{podplan.RevisionLabel: "web-1", "hash": "1"}
	p.Annotations = map[string]string{"state": "2"}
	for want, by := range map[string][]string{"web-1": nil, "12": {"hash", "state"}, "2": {"state"}} {
		if got := (&Writer{VersionedBy: by}).version(p); got != want {
			t.Errorf("by %q: %q, want %q", by, got, want)
		}
	}
}

// A kind names labels by which it knows its pods: a new one that comes back with others is none. (CT-5)
func TestIdentifiedBy(t *testing.T) {
	for _, test := range []struct {
		name string
		by   []string
		want bool
	}{
		{"CT-5: a label that identifies it", []string{"id"}, true},
		{"another label", nil, false},
	} {
		s := newFixture(t)
		s.IdentifiedBy = test.by
		s.Placement = placement(func(pod *corev1.Pod) { pod.Labels = map[string]string{"id": "other"} })
		if err := s.createPods(rollout.PodCreation{Pod: pod("web-0")}); (err != nil) != test.want {
			t.Errorf("%s: error %v", test.name, err)
		}
	}
}

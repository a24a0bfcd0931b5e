// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// statuses is the Status of no kind: a condition is true for each type of problem.
type statuses struct{}

func (statuses) Same(a, b *v1beta1.StatefulSetStatus) bool { return equality.Semantic.DeepEqual(a, b) }

func (statuses) Report(status, _ *v1beta1.StatefulSetStatus, problems []rollout.Problem, _ time.Time) *v1beta1.StatefulSetStatus {
	status = status.DeepCopy()
	status.Conditions = nil
	for _, p := range problems {
		status.Conditions = append(status.Conditions,
			appsv1.StatefulSetCondition{Type: appsv1.StatefulSetConditionType(p.Condition), Status: corev1.ConditionTrue, Message: p.Err.Error()})
	}
	return status
}

func (statuses) Collided(observed *v1beta1.StatefulSetStatus, _ time.Time) *v1beta1.StatefulSetStatus {
	status := observed.DeepCopy()
	status.CollisionCount = ptr.To(ptr.Deref(status.CollisionCount, 0) + 1)
	return status
}

// applier applies a plan for the StatefulSet of the fixture. The status is to count five pods.
func (s *fixture) applier(plan *rollout.Plan) *Applier[v1beta1.StatefulSetStatus] {
	status := s.set.Status.DeepCopy()
	status.Replicas = 5
	return &Applier[v1beta1.StatefulSetStatus]{Sync: s.Sync, Plan: plan, Status: status, Observed: &s.set.Status, Now: time.Unix(1000, 0),
		Reporting: &Reporting[v1beta1.StatefulSetStatus]{FailedCreate: "FailedCreate", FailedUpdate: "FailedUpdate", FailedDelete: "FailedDelete", Status: statuses{}}}
}

// reported is the status that the API server has: how many pods it counts, and its conditions.
func (s *fixture) reported() (replicas int32, conditions []string) {
	s.t.Helper()
	var set v1beta1.StatefulSet
	s.must(s.user.CoreV1().RESTClient().Get().AbsPath(setPath + "/web").Do(s.t.Context()).Into(&set))
	for _, c := range set.Status.Conditions {
		conditions = append(conditions, string(c.Type)+": "+c.Message)
	}
	return set.Status.Replicas, conditions
}

// created is a plan that creates a pod, and the revision web-2 before it.
func created() *rollout.Plan {
	plan := &rollout.Plan{Revisions: revision.Changes{Create: history("web-2", "nginx:2"), Current: history("web-1", "nginx:1")}}
	plan.Create = []rollout.PodCreation{{Pod: pod("web-0")}}
	return plan
}

// A name that another revision has is counted as a collision, for another name in the next reconcile. (CS-CR5)
func TestWriteRevisions(t *testing.T) {
	for _, test := range []struct {
		name     string
		set      func(*fixture)
		settled  bool
		collided bool
		fails    bool
	}{
		{"CS-CR5: it is created", func(*fixture) {}, true, false, false},
		{"CS-CR5: it is refused", func(s *fixture) { s.fail("create controllerrevisions", errQuota) }, false, false, true},
		{"CS-CR5: the name is taken", func(s *fixture) { s.stored(history("web-2", "other")) }, false, true, false},
		{"CS-CR5: the name is taken, and the status cannot say so", func(s *fixture) {
			s.stored(history("web-2", "other"))
			s.fail("patch statefulsets/status", errQuota)
		}, false, false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newFixture(t)
			test.set(s)
			a := s.applier(created())
			a.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
			settled, err := a.WriteRevisions(t.Context())
			if settled != test.settled || (err != nil) != test.fails {
				t.Errorf("settled %t, error %v", settled, err)
			}
			var set v1beta1.StatefulSet
			s.must(s.user.CoreV1().RESTClient().Get().AbsPath(setPath + "/web").Do(t.Context()).Into(&set))
			if collisions := ptr.Deref(set.Status.CollisionCount, 0); (collisions == 1) != test.collided || set.Status.Replicas != 3 {
				t.Errorf("%d collisions, %d pods", collisions, set.Status.Replicas)
			}
		})
	}
}

// A reconcile that cannot write its revisions says why. It does not write a status that is about them, but drops pods that the present
// one counts already and that are not created. (CS-S2)
func TestAbandon(t *testing.T) {
	for _, test := range []struct {
		name     string
		set      func(*Applier[v1beta1.StatefulSetStatus])
		err      error
		replicas int32
		want     []string
		retried  bool
	}{
		{"CS-S2: the planned status is not written", func(*Applier[v1beta1.StatefulSetStatus]) {}, errQuota, 3, []string{"FailedUpdate: " + errQuota.Error()}, true},
		{"CS-S2: the present one counts a pod that is to be created", func(a *Applier[v1beta1.StatefulSetStatus]) {
			a.Status, a.Uncreated = nil, a.Observed.DeepCopy()
			a.Uncreated.Replicas = 2
		}, errQuota, 2, []string{"FailedUpdate: " + errQuota.Error()}, true},
		{"a conflict is not told of", func(*Applier[v1beta1.StatefulSetStatus]) {}, apierrors.NewConflict(corev1.Resource("pods"), "web", errLost), 3, nil, true},
		{"in a namespace that ends it is not tried again", func(*Applier[v1beta1.StatefulSetStatus]) {}, namespaceEnding("shop"), 3,
			[]string{"FailedUpdate: " + namespaceEnding("shop").Error()}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newFixture(t)
			a := s.applier(created())
			test.set(a)
			if err := a.Abandon(t.Context(), test.err); (err != nil) != test.retried {
				t.Errorf("error %v", err)
			}
			replicas, conditions := s.reported()
			if diff := cmp.Diff(test.want, conditions); diff != "" || replicas != test.replicas {
				t.Errorf("%d pods, want %d; conditions (-want +got):\n%s", replicas, test.replicas, diff)
			}
		})
	}
}

// A refusal is one that the same request meets again: then the plan goes on without the revision. (CT-9)
func TestRefusedRevision(t *testing.T) {
	code := func(code int32) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: code, Message: "injected"}}
	}
	sole := history("web-1", "nginx:1")
	for _, test := range []struct {
		name    string
		changes *revision.Changes
		err     error
		want    bool
	}{
		{"CT-9: forbidden", &created().Revisions, errQuota, true},
		{"CT-9: invalid", &created().Revisions, code(422), true},
		{"CT-9: bad request, the first code", &created().Revisions, code(400), true},
		{"CT-9: the last code", &created().Revisions, code(499), true},
		{"no error", &created().Revisions, nil, false},
		{"no answer", &created().Revisions, errLost, false},
		{"the server fails", &created().Revisions, code(500), false},
		{"a redirection", &created().Revisions, code(399), false},
		{"a conflict", &created().Revisions, code(409), false},
		{"too late", &created().Revisions, code(408), false},
		{"too many requests", &created().Revisions, code(429), false},
		{"not found", &created().Revisions, apierrors.NewNotFound(corev1.Resource("controllerrevisions"), "web-2"), false},
		{"the namespace ends", &created().Revisions, namespaceEnding("shop"), false},
		{"another write was refused", &revision.Changes{Current: sole}, errQuota, false},
		{"it is the first one", &revision.Changes{Create: sole, Current: sole}, errQuota, false},
		{"the current one is missing", &revision.Changes{Create: sole, Missing: "web-0"}, errQuota, false},
	} {
		if got := RefusedRevision(test.changes, test.err); (got != nil) != test.want || got != nil && got.Error() != test.err.Error() {
			t.Errorf("%s: %v, want one: %t", test.name, got, test.want)
		}
	}
}

// While the update revision is refused, another plan takes the place of the one that needs it. (CT-9)
func TestWriteOrHold(t *testing.T) {
	for _, test := range []struct {
		name                 string
		err                  error
		settled, held, fails bool
	}{
		{"it is created", nil, true, false, false},
		{"CT-9: it is refused", errQuota, true, true, false},
		{"the server fails", errInternal, false, false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newFixture(t)
			s.fail("create controllerrevisions", test.err)
			first, without := created(), &rollout.Plan{}
			a := s.applier(first)
			var told error
			settled, err := a.WriteOrHold(t.Context(), func(refused error) *rollout.Plan { told = refused; return without })
			if settled != test.settled || (err != nil) != test.fails || a.Held() != test.held || (told != nil) != test.held {
				t.Errorf("settled %t, held %t, told %v, error %v", settled, a.Held(), told, err)
			}
			if (a.Plan == without) != test.held || (a.Plan == first) == test.held {
				t.Errorf("the plan is %v", a.Plan)
			}
		})
	}
}

// A plan that is held keeps the numbers of the status and the whole history, and says why. (CT-9)
func TestHeldPlan(t *testing.T) {
	s := newFixture(t)
	old := s.stored(history("web-0", "nginx:0"))
	a := s.applier(created())
	a.Uncreated = a.Observed.DeepCopy()
	plan := &rollout.Plan{Revisions: revision.Changes{Delete: []*appsv1.ControllerRevision{old}}}
	a.hold(plan, errQuota)
	if err := a.Report(t.Context()); !errors.Is(err, errQuota) || !a.Held() {
		t.Errorf("error %v, held %t", err, a.Held())
	}
	replicas, conditions := s.reported()
	if diff := cmp.Diff([]string{"FailedUpdate: " + errQuota.Error()}, conditions); diff != "" || replicas != 3 {
		t.Errorf("%d pods, conditions (-want +got):\n%s", replicas, diff)
	}
	if err := a.TruncateHistory(t.Context()); err != nil || slices.Contains(s.requests(), "delete controllerrevisions web-0") {
		t.Errorf("error %v, requests %q", err, s.requests())
	}
}

// What looks as if the workload were gone is found out by a write of the status, which is due anyway. (CS-3)
func TestOutdated(t *testing.T) {
	conflict := apierrors.NewConflict(corev1.Resource("statefulsets"), "web", errors.New("changed"))
	type applier = Applier[v1beta1.StatefulSetStatus]
	const write = "patch statefulsets/status web"
	for _, test := range []struct {
		name     string
		set      func(*fixture, *applier)
		want     []string
		outdated bool
		fails    bool
		replicas int32 // afterwards, 0 if it is gone
	}{
		{"as many pods as before", func(*fixture, *applier) {}, nil, false, false, 3},
		{"nothing is created", func(_ *fixture, a *applier) { a.Shrinks, a.Plan.Create = true, nil }, nil, false, false, 3},
		{"CS-3: pods are gone", func(_ *fixture, a *applier) { a.Shrinks = true }, []string{write}, false, false, 5},
		{"CS-3: the current revision is gone", func(_ *fixture, a *applier) { a.Plan.Revisions.Missing = "web-1" }, []string{write}, false, false, 5},
		{"CS-3: pods are gone, and the planned status counts others", func(_ *fixture, a *applier) { a.Shrinks, a.Uncreated = true, a.Observed }, []string{write}, false, false, 3},
		{"CT-9: the plan is held", func(_ *fixture, a *applier) { a.hold(a.Plan, errQuota) }, []string{write}, false, false, 3},
		{"CS-3: a conflict", func(s *fixture, a *applier) { a.Shrinks = true; s.fail("patch statefulsets/status", conflict) }, []string{write}, true, true, 3},
		{"another failure", func(s *fixture, a *applier) { a.Shrinks = true; s.fail("patch statefulsets/status", errInternal) }, []string{write}, false, false, 3},
		{"CS-3: the workload is gone", func(s *fixture, a *applier) {
			a.Shrinks = true
			s.must(s.user.CoreV1().RESTClient().Delete().AbsPath(setPath + "/web").Do(s.t.Context()).Error())
		}, []string{write}, true, false, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newFixture(t)
			a := s.applier(created())
			test.set(s, a)
			outdated, err := a.Outdated(t.Context())
			if outdated != test.outdated || (err != nil) != test.fails {
				t.Errorf("outdated %t, error %v", outdated, err)
			}
			if diff := cmp.Diff(test.want, s.requests()); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			if test.replicas == 0 {
				return
			}
			if replicas, _ := s.reported(); replicas != test.replicas {
				t.Errorf("the status counts %d pods, want %d", replicas, test.replicas)
			}
		})
	}
}

// The status comes once, with what went wrong; the history goes after it, if it was written. (CS-CR7)
func TestReport(t *testing.T) {
	type applier = Applier[v1beta1.StatefulSetStatus]
	const write, remove = "patch statefulsets/status web", "delete controllerrevisions web-0"
	for _, test := range []struct {
		name       string
		set        func(*fixture, *applier)
		want       []string
		conditions []string
		fails      bool
	}{
		{"CS-CR7: the planned status, then the history", func(*fixture, *applier) {}, []string{remove, write}, nil, false},
		{"nothing to say", func(_ *fixture, a *applier) { a.SetStatus(a.Observed.DeepCopy()) }, []string{remove}, nil, false},
		{"CS-S2: what went wrong", func(_ *fixture, a *applier) {
			a.SetStatus(a.Observed.DeepCopy())
			_ = a.Failed("FailedCreate", errQuota)
			a.Plan.Problems = []rollout.Problem{{Condition: "FailedUpdate", Err: errLost}}
		}, []string{remove, write}, []string{"FailedCreate: " + errQuota.Error(), "FailedUpdate: " + errLost.Error()}, false},
		{"CS-CR7: a status that is not written may name a revision", func(s *fixture, _ *applier) { s.fail("patch statefulsets/status", errInternal) }, []string{write}, nil, true},
		{"a status that was written before is not written again", func(s *fixture, a *applier) {
			a.Shrinks = true
			_, err := a.Outdated(s.t.Context())
			s.must(err)
		}, []string{remove, write}, nil, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newFixture(t)
			a := s.applier(created())
			a.Plan.Revisions.Delete = []*appsv1.ControllerRevision{s.stored(history("web-0", "nginx:0"))}
			test.set(s, a)
			err := a.Report(t.Context())
			if (err != nil) != test.fails {
				t.Errorf("error %v", err)
			}
			s.must(a.TruncateHistory(t.Context()))
			if diff := cmp.Diff(test.want, s.requests()); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			if _, conditions := s.reported(); !slices.Equal(conditions, test.conditions) {
				t.Errorf("conditions %q, want %q", conditions, test.conditions)
			}
		})
	}
}

// Claims that pods wait for are created, claims get their owners, and a condition or an event tells of one that fails. (CS-24)
func TestClaimsOfAPlan(t *testing.T) {
	s := newFixture(t)
	s.existingClaim("data-web-0", nil)
	a := s.applier(&rollout.Plan{CreateClaims: []*corev1.PersistentVolumeClaim{claim("data-web-0"), claim("data-web-1")}})
	s.must(a.CreateClaims(t.Context())) // one that is there is that of the pod
	live, err := s.user.CoreV1().PersistentVolumeClaims("shop").Get(t.Context(), "data-web-1", metav1.GetOptions{})
	s.must(err)
	owned := rollout.ClaimPatch{Claim: live, Owners: []metav1.OwnerReference{owner("set")}}
	s.must(a.ChangeClaims(t.Context(), []rollout.ClaimPatch{owned}))
	live, err = s.user.CoreV1().PersistentVolumeClaims("shop").Get(t.Context(), "data-web-1", metav1.GetOptions{})
	if err != nil || len(live.OwnerReferences) != 1 {
		t.Errorf("error %v, owners %v", err, live.OwnerReferences)
	}
	s.events.events = nil
	s.FailBefore(func(r fakecluster.Request) error {
		if r.User == "controller" && r.Resource == "persistentvolumeclaims" {
			return errQuota
		}
		return nil
	})
	if err := errors.Join(a.CreateClaims(t.Context()), a.ChangeClaims(t.Context(), []rollout.ClaimPatch{owned})); len(Separate(err)) != 3 {
		t.Errorf("error %v", err)
	}
	if !slices.Contains(s.events.events, "Warning FailedUpdate: change the owners of claim data-web-1: "+errQuota.Error()) {
		t.Errorf("events %q", s.events.events)
	}
	s.must(a.Report(t.Context()))
	want := []string{"FailedCreate: create claim data-web-0: " + errQuota.Error() + "; create claim data-web-1: " + errQuota.Error()}
	if _, conditions := s.reported(); !slices.Equal(conditions, want) {
		t.Errorf("conditions %q, want %q", conditions, want)
	}
}

// The next reconcile comes when the plan wants it, or before, if a budget could not tell, or has denied. (CT-10)
func TestRequeueAfter(t *testing.T) {
	for _, test := range []struct {
		plan    time.Duration
		unknown bool
		want    time.Duration
	}{
		{0, false, 0},
		{time.Minute, false, time.Minute},
		{0, true, deniedRetry},
		{time.Minute, true, deniedRetry},
		{time.Millisecond, true, time.Millisecond},
	} {
		a := newFixture(t).applier(&rollout.Plan{RequeueAfter: test.plan})
		a.unknown = test.unknown
		if got := a.RequeueAfter(); got != test.want {
			t.Errorf("plan %s, unknown %t: %s, want %s", test.plan, test.unknown, got, test.want)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/inplace/rollout"
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

// A refusal is one that the same request meets again: then the plan goes on without the revision. (CT-9)
func TestRefusedRevision(t *testing.T) {
	code := func(code int32) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: code, Message: "injected"}}
	}
	sole := history("web-1", "nginx:1")
	changes := &revision.Changes{Create: history("web-2", "nginx:2"), Current: sole}
	for _, test := range []struct {
		name    string
		changes *revision.Changes
		err     error
		want    bool
	}{
		{"CT-9: forbidden", changes, errQuota, true},
		{"CT-9: invalid", changes, code(422), true},
		{"CT-9: bad request, the first code", changes, code(400), true},
		{"CT-9: the last code", changes, code(499), true},
		{"no error", changes, nil, false},
		{"no answer", changes, errLost, false},
		{"the server fails", changes, code(500), false},
		{"a redirection", changes, code(399), false},
		{"a conflict", changes, code(409), false},
		{"too late", changes, code(408), false},
		{"too many requests", changes, code(429), false},
		{"not found", changes, apierrors.NewNotFound(corev1.Resource("controllerrevisions"), "web-2"), false},
		{"the namespace ends", changes, namespaceEnding("shop"), false},
		{"another write was refused", &revision.Changes{Current: sole}, errQuota, false},
		{"it is the first one", &revision.Changes{Create: sole, Current: sole}, errQuota, false},
		{"the current one is missing", &revision.Changes{Create: sole, Missing: "web-0"}, errQuota, false},
	} {
		if got := RefusedRevision(test.changes, test.err); (got != nil) != test.want || got != nil && got.Error() != test.err.Error() {
			t.Errorf("%s: %v, want one: %t", test.name, got, test.want)
		}
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

// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/ptr"

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

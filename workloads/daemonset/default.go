// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

var defaultBurst = intstr.FromInt32(v1alpha1.DefaultDaemonSetBurstReplicas)

// Default sets the unset fields of a DaemonSet to their defaults, in place. The type
// Surging becomes Standard with a maxSurge.
//
// The pod template stays unchanged: its defaults would be a change of the template,
// which restarts pods.
func Default(set *v1alpha1.DaemonSet) {
	spec := &set.Spec
	if spec.BurstReplicas == nil {
		spec.BurstReplicas = new(defaultBurst)
	}
	if spec.RevisionHistoryLimit == nil {
		spec.RevisionHistoryLimit = new(int32(10))
	}
	s := &spec.UpdateStrategy
	if s.Type == "" {
		s.Type = v1alpha1.RollingUpdateDaemonSetStrategyType
	}
	if s.Type != v1alpha1.RollingUpdateDaemonSetStrategyType {
		return
	}
	if s.RollingUpdate == nil {
		s.RollingUpdate = &v1alpha1.RollingUpdateDaemonSet{}
	}
	defaultRollingUpdate(s.RollingUpdate)
}

// defaultRollingUpdate sets the unset fields of how pods are updated.
func defaultRollingUpdate(r *v1alpha1.RollingUpdateDaemonSet) {
	switch r.Type {
	case v1alpha1.DeprecatedSurgingRollingUpdateType:
		r.Type = v1alpha1.StandardRollingUpdateType
		if r.MaxSurge == nil {
			r.MaxSurge = new(intstr.FromInt32(1))
		}
		if r.MaxUnavailable == nil {
			r.MaxUnavailable = new(intstr.FromInt32(0))
		}
	case "":
		r.Type = v1alpha1.StandardRollingUpdateType
	}
	if r.MaxUnavailable == nil && isZero(r.MaxSurge) {
		r.MaxUnavailable = new(intstr.FromInt32(1))
		if r.MaxSurge == nil {
			r.MaxSurge = new(intstr.FromInt32(0))
		}
	}
}

// isZero tells whether a value stands for no node at all.
func isZero(value *intstr.IntOrString) bool {
	if value == nil {
		return true
	}
	if value.Type == intstr.Int {
		return value.IntVal == 0
	}
	return strings.Trim(strings.TrimSuffix(value.StrVal, "%"), "0") == "" && value.StrVal != "" && value.StrVal != "%"
}

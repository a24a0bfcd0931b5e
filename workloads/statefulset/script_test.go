// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/testing/scenario"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// TestScripts plays the rollouts in testdata: see scenario.RunScripts. A StatefulSet has two commands of its own. "foreign pod"
// gives a pod to another controller. "serve pod" has another manager put it into service. It has these keys of spec, beside
// those of the template and hooks:
//
//	replicas, policy, scaleMaxUnavailable, historyLimit
//	reserve=(1,5-7)                   reserveOrdinals
//	start                             ordinals.start; empty removes it
//	claims=(data,logs)                volumeClaimTemplates
//	whenDeleted, whenScaled           Retain or Delete
//	type                              OnDelete drops all that follows
//	partition, maxUnavailable, podUpdatePolicy, paused, minReadySeconds
//	grace                             gracePeriodSeconds of an in-place update
//	unordered                         true or false
//	priority=key or priority=key:value  orders by, or prefers, a label; unordered
func TestScripts(t *testing.T) {
	scenario.RunScripts(t, "testdata/scripts", func(t *testing.T) (*scenario.Cluster, scenario.Player) {
		w := newScenario(t)
		return w.Cluster, w
	})
}

// Spec changes fields of the spec, each given as key=value.
func (w *setScenario) Spec(changes ...string) {
	scenario.ChangeSpec(w.set, changes, w.change)
}

func (w *setScenario) change(key, value string) {
	spec, quantity := &w.set.Spec, intstr.Parse(value)
	number := int32(quantity.IntVal)
	switch key {
	case "replicas":
		spec.Replicas = &number
	case "policy":
		spec.PodManagementPolicy = appsv1.PodManagementPolicyType(value)
	case "scaleMaxUnavailable":
		spec.ScaleStrategy = nil
		if value != "" {
			spec.ScaleStrategy = &v1beta1.StatefulSetScaleStrategy{MaxUnavailable: &quantity}
		}
	case "reserve":
		spec.ReserveOrdinals, spec.ReserveOrdinalRanges = nil, reservedIn(value)
	case "start":
		spec.Ordinals = nil
		if value != "" {
			spec.Ordinals = &appsv1.StatefulSetOrdinals{Start: number}
		}
	case "claims":
		spec.VolumeClaimTemplates = scenario.ClaimTemplates(value)
	case "whenDeleted", "whenScaled":
		w.retain(key, appsv1.PersistentVolumeClaimRetentionPolicyType(value))
	case "historyLimit":
		spec.RevisionHistoryLimit = &number
	case "type":
		w.changeType(appsv1.StatefulSetUpdateStrategyType(value))
	default:
		if !scenario.ChangeTemplate(&spec.Template, key, value) && !scenario.ChangeHook(&spec.Lifecycle, key, value) {
			w.changeRolling(key, value)
		}
	}
}

func (w *setScenario) changeType(value appsv1.StatefulSetUpdateStrategyType) {
	strategy := &w.set.Spec.UpdateStrategy
	if strategy.Type = value; value == appsv1.OnDeleteStatefulSetStrategyType {
		strategy.RollingUpdate = nil
	}
}

// changeRolling changes a field of the rolling update.
func (w *setScenario) changeRolling(key, value string) {
	if w.set.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType {
		w.T.Fatalf("unknown field %s, or one that OnDelete does not have", key)
	}
	if w.set.Spec.UpdateStrategy.RollingUpdate == nil {
		w.set.Spec.UpdateStrategy.RollingUpdate = &v1beta1.RollingUpdateStatefulSetStrategy{}
	}
	rolling, quantity := w.set.Spec.UpdateStrategy.RollingUpdate, intstr.Parse(value)
	number := int32(quantity.IntVal)
	switch key {
	case "partition":
		rolling.Partition = &number
	case "maxUnavailable":
		rolling.MaxUnavailable = &quantity
	case "podUpdatePolicy":
		rolling.PodUpdatePolicy = v1beta1.PodUpdateStrategyType(value)
	case "paused":
		rolling.Paused = value == "true"
	case "minReadySeconds":
		rolling.MinReadySeconds = &number
	case "grace":
		rolling.InPlaceUpdateStrategy = &inplacev1alpha1.InPlaceUpdateStrategy{GracePeriodSeconds: number}
	case "unordered":
		rolling.UnorderedUpdate = nil
		if value == "true" {
			rolling.UnorderedUpdate = &v1beta1.UnorderedUpdateStrategy{}
		}
	case "priority":
		rolling.UnorderedUpdate = &v1beta1.UnorderedUpdateStrategy{PriorityStrategy: priorityOf(value)}
	default:
		w.T.Fatalf("unknown field %s", key)
	}
}

func priorityOf(text string) *inplacev1alpha1.UpdatePriorityStrategy {
	key, value, weighted := strings.Cut(text, ":")
	if !weighted {
		return &inplacev1alpha1.UpdatePriorityStrategy{OrderPriority: []inplacev1alpha1.UpdatePriorityOrderTerm{{OrderedKey: key}}}
	}
	return &inplacev1alpha1.UpdatePriorityStrategy{WeightPriority: []inplacev1alpha1.UpdatePriorityWeightTerm{{
		Weight: 100, MatchSelector: metav1.LabelSelector{MatchLabels: map[string]string{key: value}},
	}}}
}

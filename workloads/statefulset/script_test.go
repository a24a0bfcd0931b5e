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

// specFields are the keys that set one field.
var specFields = map[string]string{
	"replicas":        `{"replicas":%s}`,
	"policy":          `{"podManagementPolicy":%s}`,
	"historyLimit":    `{"revisionHistoryLimit":%s}`,
	"whenDeleted":     `{"persistentVolumeClaimRetentionPolicy":{"whenDeleted":%s}}`,
	"whenScaled":      `{"persistentVolumeClaimRetentionPolicy":{"whenScaled":%s}}`,
	"partition":       `{"updateStrategy":{"rollingUpdate":{"partition":%s}}}`,
	"maxUnavailable":  `{"updateStrategy":{"rollingUpdate":{"maxUnavailable":%s}}}`,
	"podUpdatePolicy": `{"updateStrategy":{"rollingUpdate":{"podUpdatePolicy":%s}}}`,
	"paused":          `{"updateStrategy":{"rollingUpdate":{"paused":%s}}}`,
	"minReadySeconds": `{"updateStrategy":{"rollingUpdate":{"minReadySeconds":%s}}}`,
	"grace":           `{"updateStrategy":{"rollingUpdate":{"inPlaceUpdateStrategy":{"gracePeriodSeconds":%s}}}}`,
}

func (w *setScenario) change(key, value string) {
	spec := &w.set.Spec
	switch key {
	case "scaleMaxUnavailable":
		spec.ScaleStrategy = nil
		if quantity := intstr.Parse(value); value != "" {
			spec.ScaleStrategy = &v1beta1.StatefulSetScaleStrategy{MaxUnavailable: &quantity}
		}
	case "reserve":
		spec.ReserveOrdinals, spec.ReserveOrdinalRanges = nil, reservedIn(value)
	case "start":
		spec.Ordinals = nil
		if value != "" {
			spec.Ordinals = &appsv1.StatefulSetOrdinals{Start: int32(intstr.Parse(value).IntVal)}
		}
	case "claims":
		spec.VolumeClaimTemplates = scenario.ClaimTemplates(value)
	case "type":
		if spec.UpdateStrategy.Type = appsv1.StatefulSetUpdateStrategyType(value); value == "OnDelete" {
			spec.UpdateStrategy.RollingUpdate = nil
		}
	case "unordered":
		w.rolling().UnorderedUpdate = nil
		if value == "true" {
			w.rolling().UnorderedUpdate = &v1beta1.UnorderedUpdateStrategy{}
		}
	case "priority":
		w.rolling().UnorderedUpdate = &v1beta1.UnorderedUpdateStrategy{PriorityStrategy: priorityOf(value)}
	default:
		if !scenario.ChangeField(w.T, spec, specFields, key, value) && !scenario.ChangeTemplate(&spec.Template, key, value) &&
			!scenario.ChangeHook(&spec.Lifecycle, key, value) {
			w.T.Fatalf("unknown field %s", key)
		}
	}
}

// rolling is the rolling update, which is made if there is none.
func (w *setScenario) rolling() *v1beta1.RollingUpdateStatefulSetStrategy {
	strategy := &w.set.Spec.UpdateStrategy
	if strategy.RollingUpdate == nil {
		strategy.RollingUpdate = &v1beta1.RollingUpdateStatefulSetStrategy{}
	}
	return strategy.RollingUpdate
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

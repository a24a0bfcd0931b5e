// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/internal/nodefit"
)

// maxReschedule is how many seconds a pod of a WorkloadSpread with several subsets may wait at most
// before it is moved. (WS-17)
const maxReschedule = 3600

// ValidateCreate says what is wrong with a new WorkloadSpread, field by field; an empty list means
// that it can be created. Others are for Conflict to judge. (WS-21)
func ValidateCreate(ws *v1alpha1.WorkloadSpread) field.ErrorList {
	return Whitelist(nil).ValidateCreate(ws)
}

// ValidateCreate is ValidateCreate if there is a white list. (WS-35)
func (l Whitelist) ValidateCreate(ws *v1alpha1.WorkloadSpread) field.ErrorList {
	return append(l.validate(ws), unworkable(&ws.Spec)...)
}

// unworkable refuses tolerations and fields of nodes that the API server takes in no pod. OpenKruise takes them. (WS-31)
func unworkable(spec *v1alpha1.WorkloadSpreadSpec) (errs field.ErrorList) {
	for i := range spec.Subsets {
		subset, at := &spec.Subsets[i], field.NewPath("spec", "subsets").Index(i)
		for j := range subset.Tolerations {
			errs = append(errs, nodefit.CheckToleration(&subset.Tolerations[j], at.Child("tolerations").Index(j))...)
		}
		if subset.RequiredNodeSelectorTerm != nil {
			errs = append(errs, validateFields(subset.RequiredNodeSelectorTerm, at.Child("requiredNodeSelectorTerm"))...)
		}
		for j := range subset.PreferredNodeSelectorTerms {
			errs = append(errs, validateFields(&subset.PreferredNodeSelectorTerms[j].Preference, at.Child("preferredNodeSelectorTerms").Index(j).Child("preference"))...)
		}
	}
	return errs
}

func validateFields(term *corev1.NodeSelectorTerm, path *field.Path) (errs field.ErrorList) {
	for i, f := range term.MatchFields {
		if f.Key != metav1.ObjectNameField {
			errs = append(errs, field.NotSupported(path.Child("matchFields").Index(i).Child("key"), f.Key, []string{metav1.ObjectNameField}))
		}
	}
	return errs
}

func (l Whitelist) validate(ws *v1alpha1.WorkloadSpread) field.ErrorList {
	path := field.NewPath("spec")
	errs := l.validateTarget(ws, path.Child("targetRef"))
	errs = append(errs, validateSubsets(ws, path.Child("subsets"))...)
	errs = append(errs, validateFilter(ws.Spec.TargetFilter)...)
	return append(errs, validateStrategy(&ws.Spec, path)...)
}

// ValidateUpdate says what is wrong with the change from the stored WorkloadSpread old to ws; an
// empty list means that it can be saved. (WS-21)
func ValidateUpdate(ws, old *v1alpha1.WorkloadSpread) field.ErrorList {
	return Whitelist(nil).ValidateUpdate(ws, old)
}

// ValidateUpdate is ValidateUpdate if there is a white list. (WS-35)
func (l Whitelist) ValidateUpdate(ws, old *v1alpha1.WorkloadSpread) field.ErrorList {
	errs := append(l.validate(ws), admission.Introduced(unworkable(&ws.Spec), unworkable(&old.Spec))...)
	before, _ := KindOf(old)
	after, _ := KindOf(ws)
	if ref, oldRef := ws.Spec.TargetReference, old.Spec.TargetReference; ref != nil && oldRef != nil && (before != after || ref.Name != oldRef.Name) {
		errs = append(errs, field.Forbidden(field.NewPath("spec", "targetRef"), "group, kind and name cannot be modified"))
	}
	return errs
}

func (l Whitelist) validateTarget(ws *v1alpha1.WorkloadSpread, path *field.Path) (errs field.ErrorList) {
	ref := ws.Spec.TargetReference
	if ref == nil {
		return field.ErrorList{field.Required(path, "needs apiVersion, kind and name")}
	}
	for _, f := range []struct{ name, value string }{{"apiVersion", ref.APIVersion}, {"kind", ref.Kind}, {"name", ref.Name}} {
		if f.value == "" {
			errs = append(errs, field.Required(path.Child(f.name), "needs apiVersion, kind and name"))
		}
	}
	if kind, _ := KindOf(ws); !l.Allows(kind) && len(errs) == 0 {
		errs = append(errs, field.Invalid(path, ref.APIVersion+" "+ref.Kind,
			"must be a CloneSet or StatefulSet of apps.kruise.io, a Deployment, ReplicaSet or StatefulSet of apps, a Job of batch, or of a kind that the white list names"))
	}
	return errs
}

func validateSubsets(ws *v1alpha1.WorkloadSpread, path *field.Path) (errs field.ErrorList) {
	subsets := ws.Spec.Subsets
	if len(subsets) == 0 {
		return field.ErrorList{field.Required(path, "there must be at least one")}
	}
	names := map[string]bool{}
	for i := range subsets {
		at := path.Index(i)
		switch name := subsets[i].Name; {
		case name == "":
			errs = append(errs, field.Required(at.Child("name"), "every subset needs a name"))
		case names[name]:
			errs = append(errs, field.Duplicate(at.Child("name"), name))
		}
		names[subsets[i].Name] = true
		errs = append(errs, validateScheduling(&subsets[i], at)...)
	}
	return append(errs, validateLimits(ws, path)...)
}

// validateLimits checks what the limits say together.
func validateLimits(ws *v1alpha1.WorkloadSpread, path *field.Path) (errs field.ErrorList) {
	subsets := ws.Spec.Subsets
	var sum int64
	types := map[intstr.Type]bool{}
	for i := range subsets {
		value, at := subsets[i].MaxReplicas, path.Index(i).Child("maxReplicas")
		if value == nil {
			continue
		}
		types[value.Type] = true
		percent, readable := percentage(value.StrVal)
		if value.Type == intstr.Int && value.IntVal < 0 || value.Type == intstr.String && !readable {
			errs = append(errs, field.Invalid(at, value.String(), "must be a number such as 3, at least 0, or a percentage such as 30%, at most 100%"))
		}
		if value.Type == intstr.String {
			sum += percent
		}
	}
	kind, _ := KindOf(ws)
	percent, last := types[intstr.String], subsets[len(subsets)-1].MaxReplicas
	switch {
	case len(errs) > 0:
	case len(types) > 1:
		errs = append(errs, field.Forbidden(path, "every maxReplicas must be a number, or every one a percentage"))
	case percent && byOrdinal(kind):
		errs = append(errs, field.Forbidden(path, "maxReplicas of a StatefulSet must be a number: its pods are assigned by their ordinals"))
	case percent && sum > 100:
		errs = append(errs, field.Forbidden(path, fmt.Sprintf("the percentages are %d%% together, and must not be more than 100%%", sum)))
	case percent && last != nil && sum != 100:
		errs = append(errs, field.Forbidden(path, fmt.Sprintf("the percentages are %d%% together, and must be 100%% if the last subset has one", sum)))
	}
	return errs
}

// validateScheduling checks terms and tolerations of a subset as the API server does those of a
// pod.
func validateScheduling(subset *v1alpha1.WorkloadSpreadSubset, path *field.Path) (errs field.ErrorList) {
	if term := subset.RequiredNodeSelectorTerm; term != nil {
		at := path.Child("requiredNodeSelectorTerm")
		errs = append(errs, validateTerm(term, at)...)
	}
	for i := range subset.PreferredNodeSelectorTerms {
		term, at := &subset.PreferredNodeSelectorTerms[i], path.Child("preferredNodeSelectorTerms").Index(i)
		if term.Weight < 1 || term.Weight > 100 {
			errs = append(errs, field.Invalid(at.Child("weight"), term.Weight, "must be from 1 to 100"))
		}
		errs = append(errs, validateTerm(&term.Preference, at.Child("preference"))...)
	}
	for i := range subset.Tolerations {
		errs = append(errs, validateToleration(&subset.Tolerations[i], path.Child("tolerations").Index(i))...)
	}
	return errs
}

func validateTerm(term *corev1.NodeSelectorTerm, path *field.Path) (errs field.ErrorList) {
	_, err := nodeaffinity.NewNodeSelector(&corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{*term}}, field.WithPath(path))
	if err != nil {
		errs = append(errs, field.Invalid(path, field.OmitValueType{}, strings.TrimPrefix(err.Error(), path.String()+".")))
	}
	for i := range term.MatchExpressions {
		e, at := &term.MatchExpressions[i], path.Child("matchExpressions").Index(i)
		for _, wrong := range validation.IsQualifiedName(e.Key) {
			errs = append(errs, field.Invalid(at.Child("key"), e.Key, wrong))
		}
	}
	return errs
}

func validateToleration(t *corev1.Toleration, path *field.Path) (errs field.ErrorList) {
	if t.Key == "" && t.Operator != corev1.TolerationOpExists {
		errs = append(errs, field.Invalid(path.Child("operator"), t.Operator, "must be Exists if key is empty: it means all taints"))
	}
	if t.Key != "" {
		for _, wrong := range validation.IsQualifiedName(t.Key) {
			errs = append(errs, field.Invalid(path.Child("key"), t.Key, wrong))
		}
	}
	if t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute {
		errs = append(errs, field.Invalid(path.Child("effect"), t.Effect, "must be NoExecute if tolerationSeconds is set"))
	}
	if t.Operator == corev1.TolerationOpExists && t.Value != "" {
		errs = append(errs, field.Invalid(path.Child("value"), t.Value, "must be empty if operator is Exists"))
	}
	if effects := []corev1.TaintEffect{"", corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute}; !slices.Contains(effects, t.Effect) {
		errs = append(errs, field.NotSupported(path.Child("effect"), t.Effect, effects[1:]))
	}
	return errs
}

func validateStrategy(spec *v1alpha1.WorkloadSpreadSpec, path *field.Path) (errs field.ErrorList) {
	s, at := &spec.ScheduleStrategy, path.Child("scheduleStrategy")
	known := []v1alpha1.WorkloadSpreadScheduleStrategyType{v1alpha1.AdaptiveWorkloadSpreadScheduleStrategyType, v1alpha1.FixedWorkloadSpreadScheduleStrategyType}
	if s.Type != "" && !slices.Contains(known, s.Type) {
		errs = append(errs, field.NotSupported(at.Child("type"), s.Type, known))
	}
	if s.Adaptive == nil {
		return errs
	}
	at = at.Child("adaptive")
	if s.Type != v1alpha1.AdaptiveWorkloadSpreadScheduleStrategyType {
		errs = append(errs, field.Forbidden(at, "is for the type Adaptive alone"))
	}
	n := len(spec.Subsets)
	if n > 1 && spec.Subsets[n-1].MaxReplicas != nil {
		errs = append(errs, field.Forbidden(path.Child("subsets").Index(n-1).Child("maxReplicas"),
			"with scheduleStrategy.adaptive the last subset must have none: it takes the pods that fit nowhere else"))
	}
	if seconds := s.Adaptive.RescheduleCriticalSeconds; seconds != nil && (*seconds < 0 || n > 1 && *seconds > maxReschedule) {
		errs = append(errs, field.Invalid(at.Child("rescheduleCriticalSeconds"), *seconds,
			fmt.Sprintf("must be at least 0, and at most %d with several subsets", maxReschedule)))
	}
	return errs
}

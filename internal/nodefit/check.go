// SPDX-License-Identifier: Apache-2.0

package nodefit

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// CheckToleration refuses what makes the API server refuse every pod that has it, beside what its fields say of one another.
func CheckToleration(t *corev1.Toleration, path *field.Path) (errs field.ErrorList) {
	operators := []corev1.TolerationOperator{corev1.TolerationOpExists, corev1.TolerationOpEqual, corev1.TolerationOpLt, corev1.TolerationOpGt}
	if t.Operator != "" && !slices.Contains(operators, t.Operator) {
		errs = append(errs, field.NotSupported(path.Child("operator"), t.Operator, operators))
	}
	for _, why := range utilvalidation.IsValidLabelValue(t.Value) {
		errs = append(errs, field.Invalid(path.Child("value"), t.Value, "no taint has this value: "+why))
	}
	return errs
}

// CheckRequirement refuses an expression that no node can meet, because its values cannot be read.
func CheckRequirement(e *corev1.NodeSelectorRequirement, path *field.Path) field.ErrorList {
	term := corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{*e}}
	if _, err := nodeaffinity.NewNodeSelector(&corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{term}}); err != nil {
		return field.ErrorList{field.Invalid(path.Child("values"), strings.Join(e.Values, ","), "no node can match: "+err.Error())}
	}
	return nil
}

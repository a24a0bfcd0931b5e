// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/inplace/rollout"
)

// Number checks a number of pods or nodes that may be a percentage. A string without "%" is right. Nil is right.
func Number(value *intstr.IntOrString, path *field.Path) field.ErrorList {
	if value == nil {
		return nil
	}
	if _, err := rollout.Count(path.String(), *value, 1, rollout.RoundUp); err == nil && value.IntVal >= 0 && !strings.HasPrefix(value.StrVal, "-") {
		return nil
	}
	return field.ErrorList{field.Invalid(path, value.String(), `must be a number such as 3, at least 0, or a whole percentage such as "30%"`)}
}

// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Introduced returns the errors of an object that its stored one does not have. What is stored already, perhaps since before
// there was a rule, must not keep a user from changing something else.
func Introduced(errs, stored field.ErrorList) (introduced field.ErrorList) {
	for _, err := range errs {
		if !slices.ContainsFunc(stored, func(s *field.Error) bool { return s.Error() == err.Error() }) {
			introduced = append(introduced, err)
		}
	}
	return introduced
}

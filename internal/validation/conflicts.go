// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Conflicts returns the names, sorted, of those of a namespace's objects that conflict with the one of a
// name, which may be among them.
func Conflicts[T any, O interface {
	*T
	metav1.Object
}](name string, all []T, conflict func(O) bool) (names []string) {
	for i := range all {
		if other := O(&all[i]); other.GetName() != name && conflict(other) {
			names = append(names, other.GetName())
		}
	}
	slices.Sort(names)
	return names
}

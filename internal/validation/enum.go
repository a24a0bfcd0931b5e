// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Enum checks that a word is one of those supported. The empty word is right:
// it stands for the default.
func Enum[T ~string](word T, path *field.Path, supported ...T) field.ErrorList {
	if word == "" || slices.Contains(supported, word) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, word, supported)}
}

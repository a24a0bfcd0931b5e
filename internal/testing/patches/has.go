// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"reflect"
	"strings"
)

// Has tells whether a word, with or without its value, is one of an object.
func Has[T any](w *Words, word string) bool {
	name, _, _ := strings.Cut(word, "=")
	patches := w.patches[reflect.TypeFor[T]().Name()]
	return patches[word] != nil || patches[name] != nil
}

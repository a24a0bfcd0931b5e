// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"regexp"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// mostOfName is how long the value of a label may be.
const mostOfName = 63

var lettersDigitsDashes = regexp.MustCompile("^[a-zA-Z0-9-]+$")

// Name checks the name of an object that becomes the value of a label; because says
// what it is used for. The empty name is right: one is to be generated.
func Name(name string, path *field.Path, because string) field.ErrorList {
	if name == "" || len(name) <= mostOfName && lettersDigitsDashes.MatchString(name) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, name, "must be at most 63 letters, digits and dashes: it is "+because)}
}

// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/internal/validation"
)

func TestName(t *testing.T) {
	const want = "must be at most 63 letters, digits and dashes: it is a label"
	for name, right := range map[string]bool{
		"": true, "log-1": true, "Log": true, strings.Repeat("a", 63): true, strings.Repeat("a", 64): false, "a.b": false, "a_b": false, "a\n": false,
	} {
		errs := validation.Name(name, field.NewPath("metadata", "name"), "a label")
		if (len(errs) == 0) != right || !right && (errs[0].Detail != want || errs[0].Field != "metadata.name") {
			t.Errorf("%q: %v", name, errs)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"fmt"

	"github.com/podwright/podwright/internal/testing/simulation/invariants"
)

// verdict is what is wrong with one change.
type verdict struct {
	about string // the object
	gap   bool
	wrong []invariants.Violation
}

// expect finds an invariant violated unless something holds.
func (v *verdict) expect(holds bool, invariant invariants.Invariant, format string, arguments ...any) {
	if !holds {
		v.add(invariants.Violation{Invariant: invariant, Message: fmt.Sprintf(format, arguments...)})
	}
}

// add finds an invariant violated.
func (v *verdict) add(violation invariants.Violation) {
	violation.Message = v.about + ": " + violation.Message
	v.wrong = append(v.wrong, violation)
}

// SPDX-License-Identifier: Apache-2.0

package podreadiness

import "strings"

// String says what the plan does; empty for nothing.
func (p *Plan) String() string {
	if p.Patch == nil {
		return ""
	}
	return "patch the pod: " + strings.ReplaceAll(p.Patch.String(), "\n", ", ")
}

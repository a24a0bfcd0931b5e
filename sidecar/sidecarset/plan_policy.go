// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"fmt"

	"github.com/podwright/podwright/sidecar/injection/policy"
)

// reportPolicy says why no policy of the API server injects what the SidecarSet has. The
// controller of policies finds the same, but a status has one writer. (SCS-25)
func (p *planner) reportPolicy() {
	if !p.Policies {
		return
	}
	in, err := policy.Current(p.Set, p.plan.Revisions.Update.Name, p.Revisions)
	if err != nil {
		p.Problem(failedPolicy, fmt.Errorf("its policy stays unchanged: %w", err))
		return
	}
	in.Features = p.Injection
	if in.Created.IsZero() { // of a revision that the cache does not show yet; the verdict is the same
		in.Created = p.Now
	}
	if _, err := policy.Compile(in); err != nil {
		p.Problem(failedPolicy, fmt.Errorf("no policy injects what it has: %w", err))
	}
}

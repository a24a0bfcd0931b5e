// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"strings"
	"testing"

	"github.com/podwright/podwright/internal/testing/conformance"
)

// TestConformance has a container probed while the report of it is refused, or taken back. (PPM-4.8)
func TestConformance(t *testing.T) {
	conformance.TestAgent(t, "patch nodepodprobes/status", "nodepodprobes", func(t *testing.T, story func(*conformance.Agent)) {
		play(t, func(n *node) {
			n.run("web-0", "main")
			story(&conformance.Agent{T: n.T, API: n.Server, Events: &n.events, User: n.user(), Start: n.start, Rules: Rules(Options{}),
				Outcome: func() string { return strings.Join(shownStatus(&n.nodePodProbe().Status), "; ") }})
		}, wants("web-0", "idle"))
	})
}

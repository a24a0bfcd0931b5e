// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"testing"

	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/internal/testing/fakecri/agents"
)

// TestConformance has a container probed while the report of it is refused, or taken back. Its rights are to read its NodePodProbe and to write the status.
// (PPM-4.1, PPM-4.8)
func TestConformance(t *testing.T) {
	conformance.TestAgent(t, "patch nodepodprobes/status", "nodepodprobes", func(t *testing.T, story func(*conformance.Agent)) {
		agents.Play(t, func(t *testing.T) *node { return newNode(t, wants("web-0", "idle")) }, func(n *node) {
			n.run("web-0")
			story(&conformance.Agent{T: n.T, API: n.Server, Events: n.Events, User: n.User(), Start: n.start, Rules: Rules(Options{}), Outcome: n.status})
		})
	})
}

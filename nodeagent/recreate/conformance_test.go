// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"testing"
	"time"

	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/internal/testing/fakecri/agents"
)

// TestConformance has a container restarted while the report of it is refused, or taken back. (CRR-5.3.7)
func TestConformance(t *testing.T) {
	conformance.TestAgent(t, "patch containerrecreaterequests/status", "containerrecreaterequests", func(t *testing.T, story func(*conformance.Agent)) {
		agents.Play(t, newNode, func(n *node) {
			n.pod("web-0")
			n.create("one", "web-0", "only=main", "forced")
			story(&conformance.Agent{T: n.T, API: n.Server, Events: n.Events, User: n.User(), Start: n.start, Rules: Rules(Options{}),
				Step: func() { n.work(3 * time.Second) }, Outcome: func() string { return string(n.get("one").Status.Phase) }}) // the manager ends it, if the agent does not report
		})
	})
}

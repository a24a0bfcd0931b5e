// SPDX-License-Identifier: Apache-2.0

package image

import (
	"strings"
	"testing"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/internal/testing/fakecri/agents"
)

// TestConformance has an image pulled while the report of it is refused, or taken back. (IMG-3.3)
func TestConformance(t *testing.T) {
	conformance.TestAgent(t, "patch nodeimages/status", "nodeimages", func(t *testing.T, story func(*conformance.Agent)) {
		agents.Play(t, asking(wants("nginx", "1")), func(n *node) {
			story(&conformance.Agent{T: n.T, API: n.Server, Events: n.Events, User: n.User(), Start: n.start,
				Rules: Rules(Options{}), NamespaceRules: conformance.In(NamespaceRules(Options{})),
				Unasked: map[string]string{"get /secrets in " + v1alpha1.DaemonConfigNamespace: "the tasks of this story name no secrets (IMG-3.11)"},
				Trusted: "a task with a time of its end has ended",
				Outcome: func() string { return strings.Join(shown(&n.nodeImage().Status), "; ") }})
		})
	})
}

// SPDX-License-Identifier: Apache-2.0

package policies_test

import (
	"fmt"

	"github.com/podwright/podwright/nodeagent/policies"
)

// What an installation of agents applies beside their RBAC rules.
func Example() {
	all, _, err := policies.New(policies.Options{Namespace: "infra", Name: "node-agent"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, policy := range all {
		for _, rule := range policy.Spec.MatchConstraints.ResourceRules {
			fmt.Println(policy.Name, rule.Resources, rule.Operations)
		}
	}
	// Output:
	// node-agent-pods [pods/status] [UPDATE]
	// node-agent-containerrecreaterequests [containerrecreaterequests containerrecreaterequests/status] [UPDATE]
	// node-agent-nodes [nodeimages/status nodepodprobes/status] [UPDATE]
	// node-agent-events [events] [UPDATE CREATE]
}

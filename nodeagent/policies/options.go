// SPDX-License-Identifier: Apache-2.0

package policies

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Options say whom the policies are about.
type Options struct {
	// Namespace and Name are those of the ServiceAccount of the agents, which nothing
	// else should use. Required. The names of the policies begin with Name.
	Namespace, Name string
	// UnboundTokens lets an agent write with a token that names no node. It may then write to what
	// belongs to any node, but change no more there. An attacker who reads such a token on one node can
	// write for all. It is for agents that get their tokens from something else than the kubelet, until
	// these tokens are bound to nodes.
	UnboundTokens bool
}

func (o *Options) validate() error {
	if problems := validation.IsDNS1123Label(o.Namespace); len(problems) > 0 {
		return fmt.Errorf("Options.Namespace %q cannot be the namespace of the agents' ServiceAccount: %s", o.Namespace, strings.Join(problems, "; "))
	}
	if problems := validation.IsDNS1123Subdomain(o.Name); len(problems) > 0 {
		return fmt.Errorf("Options.Name %q cannot be the name of the agents' ServiceAccount: %s", o.Name, strings.Join(problems, "; "))
	}
	return nil
}

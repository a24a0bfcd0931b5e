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
	// UnboundTokens lets a token write that names no node, to what belongs to any
	// node; what it may change there stays as narrow. Who reads such a token from one
	// node can write for all. It is for agents whose tokens are handed to them
	// otherwise than by a kubelet, until these are bound to their nodes.
	UnboundTokens bool
}

func (o *Options) validate() error {
	if problems := validation.IsDNS1123Label(o.Namespace); len(problems) > 0 {
		return fmt.Errorf("the Namespace %q: want that of the agents' ServiceAccount: %s", o.Namespace, strings.Join(problems, "; "))
	}
	if problems := validation.IsDNS1123Subdomain(o.Name); len(problems) > 0 {
		return fmt.Errorf("the Name %q: want that of the agents' ServiceAccount: %s", o.Name, strings.Join(problems, "; "))
	}
	return nil
}

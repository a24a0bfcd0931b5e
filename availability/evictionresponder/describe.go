// SPDX-License-Identifier: Apache-2.0

package evictionresponder

import (
	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/controller"
)

// Describe returns what a program takes that runs the responder of declarative evictions, for package manager: the options are
// those of New.
func Describe(o Options) podwright.Kind {
	return controller.Describe(component, SchemeGroupVersion.WithResource("evictions"), o.Namespace, o, New, Rules)
}

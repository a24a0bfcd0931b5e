// SPDX-License-Identifier: Apache-2.0

package ephemeraljob

import (
	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Describe returns what a program takes that runs the controller of EphemeralJobs, for package manager: the options are those of New.
func Describe(o Options) podwright.Kind {
	k := controller.Describe(component, v1alpha1.SchemeGroupVersion.WithResource("ephemeraljobs"), o.Namespace, o, New, Rules)
	k.CRDs = lifecycle.CRDs
	return k
}

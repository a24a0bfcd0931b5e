// SPDX-License-Identifier: Apache-2.0

package policies

import (
	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/controller"
	area "github.com/podwright/podwright/sidecar"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// Describe returns what a program takes that runs the controller of the policies of SidecarSets, for package manager: the options are those of New.
func Describe(o Options) podwright.Kind {
	k := controller.Describe(component, v1alpha1.SchemeGroupVersion.WithResource("sidecarsets"), "", o, New, Rules)
	k.Permissions = append(k.Permissions, controller.In(NamespaceRules(o)))
	k.CRDs = area.CRDs
	return k
}

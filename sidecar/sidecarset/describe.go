// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/controller"
	area "github.com/podwright/podwright/sidecar"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// Describe returns what a program takes that runs SidecarSets, for package manager: the options are those of New. A nil webhook is
// not served.
func Describe(o Options, w *Webhook) podwright.Kind {
	k := controller.Describe(component, v1alpha1.SchemeGroupVersion.WithResource("sidecarsets"), o.Namespace, o, New, Rules)
	k.Permissions = append(k.Permissions, controller.In(NamespaceRules(o)))
	k.CRDs, k.Webhooks = area.CRDs, area.Webhooks
	if w != nil {
		k.Admission = controller.Admission(w, w.Rules())
	}
	return k
}

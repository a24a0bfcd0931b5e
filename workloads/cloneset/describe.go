// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/workloads"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Describe returns what a program takes that runs CloneSets, for package manager: the options are those of New. A nil webhook is
// not served.
func Describe(o Options, w *Webhook) podwright.Kind {
	k := controller.Describe(component, v1alpha1.SchemeGroupVersion.WithResource("clonesets"), o.Namespace, o, New, Rules)
	k.CRDs, k.Webhooks = workloads.CRDsWithDefaults, workloads.Webhooks
	if w != nil {
		k.Admission = controller.Admission(w, w.Rules())
	}
	return k
}

// SPDX-License-Identifier: Apache-2.0

package podprobemarker

import (
	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Describe returns what a program takes that runs PodProbeMarkers, for package manager: the options are those of New. A nil webhook is
// not served.
func Describe(o Options, w *Webhook) podwright.Kind {
	k := controller.Describe(component, v1alpha1.SchemeGroupVersion.WithResource("podprobemarkers"), o.Namespace, o, New, Rules)
	k.CRDs, k.Webhooks = lifecycle.CRDs, lifecycle.Webhooks
	if w != nil {
		k.Admission = controller.Admission(w, nil)
	}
	return k
}

// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Describe returns what a program takes that runs ContainerRecreateRequests, for package manager: the options are those of
// New. A nil webhook is not served, and policies refuse in its stead what users must not write.
func Describe(o Options, w *Webhook) podwright.Kind {
	k := controller.Describe(component, v1alpha1.SchemeGroupVersion.WithResource("containerrecreaterequests"), o.Namespace, o, New, Rules)
	k.CRDs, k.Webhooks = lifecycle.CRDs, lifecycle.Webhooks
	if w != nil {
		k.Admission = controller.Admission(w, w.Rules())
	} else {
		k.Policies, k.Bindings = lifecycle.PoliciesWithoutWebhooks()
	}
	return k
}

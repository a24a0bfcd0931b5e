// SPDX-License-Identifier: Apache-2.0

package deletion

import (
	"github.com/podwright/podwright"
	"github.com/podwright/podwright/availability"
	"github.com/podwright/podwright/internal/controller"
)

// Describe returns what a program takes that protects from deletion, for package manager. There is no controller: the webhook does
// it, and the policies do most of it without one. A nil webhook is not served. The error is that of Policies.
func Describe(w *Webhook, o PolicyOptions) (k podwright.Kind, err error) {
	k.Webhooks = availability.Webhooks
	if w != nil {
		k.Admission = controller.Admission(w, w.Rules())
	}
	k.Policies, k.Bindings, err = Policies(o)
	return k, err
}

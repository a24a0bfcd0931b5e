// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"context"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/availability"
	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/controller"
)

// Describe returns what a program takes that runs PodUnavailableBudgets, for package manager: the options are those of New. A nil
// webhook is not served.
func Describe(o Options, w *CachedWebhook) podwright.Kind {
	k := controller.Describe(component, v1alpha1.SchemeGroupVersion.WithResource("podunavailablebudgets"), o.Namespace, o, New, Rules)
	k.CRDs, k.Webhooks = availability.CRDs, availability.Webhooks
	if w != nil {
		k.Admission = controller.Admission(w, w.Rules())
		k.Admission.Conditions = map[string]func(context.Context) (string, error){ValidatePodPath: w.MatchExpression}
		k.Admission.OnMatchChange, k.Admission.Run, k.Admission.Missing = w.OnMatchChange, w.Run, w.Missing
	}
	return k
}

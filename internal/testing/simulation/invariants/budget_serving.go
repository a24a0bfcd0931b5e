// SPDX-License-Identifier: Apache-2.0

package invariants

import "github.com/podwright/podwright/availability/v1alpha1"

// BudgetServing judges what became of the pods of a budget when their users asked to take some of them down at once. It judges by the pods
// that served, as the kubelets showed them, and by the spec of the budget. It also judges by the number of pods that their owners want, as
// the users know it. What the status of the budget says does not matter. Allowed is how many of the pods asked about may go. (PUB-6, PUB-7,
// PUB-13)
func BudgetServing(b *v1alpha1.PodUnavailableBudget, wanted, served, asked, allowed int32) []Violation {
	var v violations
	view := &budgetView{total: wanted}
	view.desire(b)
	spare := max(served-view.desired, 0)
	if wanted == 0 {
		spare = served
	}
	spare = min(spare, asked)
	switch {
	case allowed > spare:
		v.add(Availability, "%d of %d pods that serve may go at once, and %d of the %d that are wanted have to stay", allowed, served, view.desired, wanted)
	case allowed < spare:
		v.add(Needless, "%d of %d pods that serve may go, and %d could: %d of the %d that are wanted have to stay", allowed, served, spare, view.desired, wanted)
	}
	return v
}

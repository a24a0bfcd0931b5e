// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import "github.com/podwright/podwright"

// Features switches what differs between installations. All programs that ask for the same budgets should have the same.
type Features struct {
	// ResizesAlone has only budgets that list RESIZE judge a resize of cpu and memory which restarts nothing. It is the gate
	// InPlacePodVerticalScaling of OpenKruise 1.9. Default false: a budget that protects from updates protects from
	// resizes as well. (PUB-19)
	ResizesAlone bool
	// AnnotatedTotal has the annotation pub.kruise.io/protect-total-replicas say how many pods there should be, whatever the
	// workloads want and with targetRef too, as in OpenKruise 1.9. Default false: it is read with selector
	// alone, if the workloads want none. (PUB-43)
	AnnotatedTotal bool
	// InconsistentMayGo lets pods go whose containers do not run yet what their spec says, as OpenKruise does from 1.6 on. Then each
	// eviction reads the pod. Default false: they are protected, and do not count as available. (PUB-14.3)
	InconsistentMayGo bool
}

// FeaturesOf returns the switches as a release of OpenKruise has them by default. Release14 is the zero Features.
func FeaturesOf(release podwright.Release) Features {
	later := release == podwright.Release19
	return Features{AnnotatedTotal: later, InconsistentMayGo: later}
}

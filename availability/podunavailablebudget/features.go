// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

// Features switches what differs between installations. All programs that ask for the same budgets should have the same.
type Features struct {
	// ResizesAlone has a resize of cpu and memory that restarts nothing protected from only by budgets that list RESIZE. It is
	// the gate InPlacePodVerticalScaling of OpenKruise 1.9. Default false: a budget that protects from
	// updates protects from resizes as well. (PUB-19)
	ResizesAlone bool
}

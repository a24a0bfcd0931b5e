// SPDX-License-Identifier: Apache-2.0

package launchpriority

import "github.com/podwright/podwright"

// Features switches what differs between installations.
type Features struct {
	// KeyBeforeReport writes the first key as soon as there is a pod, before its kubelet has reported anything. OpenKruise does
	// so from 1.6 on. (LP-17)
	KeyBeforeReport bool
	// MarkCompleted notes on a pod that all of its keys are written, for clients of OpenKruise 1.6 and later. It needs the
	// permission to patch pods. (LP-18)
	MarkCompleted bool
}

// FeaturesOf returns the switches as a release of OpenKruise has them by default. Release14 is the zero Features.
func FeaturesOf(release podwright.Release) Features {
	later := release == podwright.Release19
	return Features{KeyBeforeReport: later, MarkCompleted: later}
}

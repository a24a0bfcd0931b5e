// SPDX-License-Identifier: Apache-2.0

package workloadspread

import "github.com/podwright/podwright"

// Features switches what differs between releases. Its zero value is OpenKruise 1.4.
type Features struct {
	// TryPatches refuses a WorkloadSpread whose patches make invalid pods of the template of the workload, as OpenKruise from 1.5
	// on. It is of a Webhook, which needs Templates. Default false: such pods are refused when they are created. (WS-21.2)
	TryPatches bool
}

// FeaturesOf returns the switches as a release of OpenKruise has them by default. Release14 is the zero Features.
func FeaturesOf(release podwright.Release) Features {
	return Features{TryPatches: release == podwright.Release19}
}

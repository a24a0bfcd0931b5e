// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import "github.com/podwright/podwright"

// Features switches what differs between releases of OpenKruise.
type Features struct {
	// UpdatedCondition has the condition UnitedDeploymentUpdated, as OpenKruise from 1.9 on. (UD-12.5)
	UpdatedCondition bool
	// ReservedLabels labels the pods that are not reserved, too, and has status.labelSelector select them alone, as OpenKruise
	// from 1.9 on. It needs Options.AdaptiveScheduling. (UD-21.6)
	ReservedLabels bool
}

// FeaturesOf returns the switches as a release of OpenKruise has them by default. Release14 is the zero Features.
func FeaturesOf(release podwright.Release) Features {
	later := release == podwright.Release19
	return Features{UpdatedCondition: later, ReservedLabels: later}
}

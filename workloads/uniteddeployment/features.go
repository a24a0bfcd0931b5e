// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import "github.com/podwright/podwright"

// Features switches what differs between installations.
type Features struct {
	// AdaptiveScheduling reads what OpenKruise has since its release 1.5: minReplicas and
	// maxReplicas of subsets, and the schedule strategy. With that strategy, other subsets run what a
	// subset cannot schedule. Default false: these fields have no effect. (UD-20, UD-21)
	AdaptiveScheduling bool
	// UpdatedCondition has the condition UnitedDeploymentUpdated, as OpenKruise from 1.9 on. (UD-12.5)
	UpdatedCondition bool
	// ReservedLabels labels the pods that are not reserved, too, and has status.labelSelector select them alone, as OpenKruise
	// from 1.9 on. It needs AdaptiveScheduling. (UD-21.6)
	ReservedLabels bool
}

// FeaturesOf returns the switches as a release of OpenKruise has them by default. Release14 is the zero Features.
func FeaturesOf(release podwright.Release) Features {
	later := release == podwright.Release19
	return Features{UpdatedCondition: later, ReservedLabels: later}
}

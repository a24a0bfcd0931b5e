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
	// SubsetStatuses writes status.subsetStatuses with every schedule strategy, with the reasons that OpenKruise gives, as OpenKruise
	// from 1.8 on. Without it they are there with the strategy Adaptive alone. (UD-21.7)
	SubsetStatuses bool
	// RevisionLabel has all kinds of workloads name their revision in apps.kruise.io/controller-revision-hash, also the advanced one with ordinals,
	// and as OpenKruise from 1.8 on. (UD-7)
	RevisionLabel bool
	// ReservedLabels labels the pods that are not reserved, too, and has status.labelSelector select them alone, as OpenKruise
	// from 1.9 on. It needs AdaptiveScheduling. (UD-21.6)
	ReservedLabels bool
}

// FeaturesOf returns the switches as a release of OpenKruise has them by default. Release14 is the zero Features. Release19 has all
// of them: what its UnitedDeployments do has no feature gates.
func FeaturesOf(release podwright.Release) Features {
	later := release == podwright.Release19
	return Features{AdaptiveScheduling: later, UpdatedCondition: later, SubsetStatuses: later, RevisionLabel: later, ReservedLabels: later}
}

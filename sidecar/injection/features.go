// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// Features switches what differs between installations. What injects into pods, the webhook of SidecarSets and their
// controller need the same, since hashes follow from it.
type Features struct {
	// InitContainerDefaults gives init containers the defaults that containers have, and podInjectPolicy AfterAppContainer. They
	// are written into SidecarSets. OpenKruise does so from 1.7 on. (SCI-40)
	InitContainerDefaults bool
	// InitContainerRecords leaves records on pods of SidecarSets that have nothing but init containers, so that their status
	// counts updated pods. OpenKruise does so from 1.6 on. (SCI-41)
	InitContainerRecords bool
	// NativeSidecars has native sidecars count as containers: hashes and records cover them, and a new image of theirs is an
	// update in place. OpenKruise has such hashes and records from 1.7 on, and no such update. (SCI-42)
	NativeSidecars bool
	// SortContainers injects the containers of all SidecarSets in the order of their names. It is the gate
	// EnableSortSidecarContainerByName of OpenKruise 1.9. Policies of the API server do not. (SCI-43)
	SortContainers bool
}

// FeaturesOf returns the switches as a release of OpenKruise has them by default. Release14 is the zero Features.
func FeaturesOf(release podwright.Release) Features {
	later := release == podwright.Release19
	return Features{InitContainerDefaults: later, InitContainerRecords: later, NativeSidecars: later}
}

// CoversInitContainers tells whether the hashes of a SidecarSet are those of its init containers too: it has a native
// sidecar. (SCI-42)
func (f Features) CoversInitContainers(set *v1alpha1.SidecarSet) bool {
	for i := range set.Spec.InitContainers {
		if f.NativeSidecars && podstate.IsNative(&set.Spec.InitContainers[i].Container) {
			return true
		}
	}
	return false
}

// RecordsInitContainers tells whether init containers that are injected leave records, without any container beside
// them. (SCI-41, SCI-42)
func (f Features) RecordsInitContainers(set *v1alpha1.SidecarSet) bool {
	return len(set.Spec.InitContainers) > 0 && (f.InitContainerRecords || f.CoversInitContainers(set))
}

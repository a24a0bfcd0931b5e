// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/inplace/rollout"
)

// Features switches what differs between releases of OpenKruise. Its zero value is 1.4.
type Features struct {
	// PartitionRoundsUp rounds a partition that is a percentage up, but leaves one of several pods to update
	// below 100%. Default: it is rounded down. (SCS-30)
	PartitionRoundsUp bool
	// ReplacePatch writes "$patch":"replace" into revisions. Both forms are read. (SCS-32)
	ReplacePatch bool
	// UpgradableCondition says on pods, by the condition SidecarSetUpgradable, whether they can be updated in place. It takes the right
	// to patch pods/status, see Rules. (SCS-33)
	UpgradableCondition bool
}

// FeaturesOf returns the switches as a release of OpenKruise has them by default. Release14 is the zero Features.
func FeaturesOf(release podwright.Release) Features {
	later := release == podwright.Release19
	return Features{PartitionRoundsUp: later, ReplacePatch: later, UpgradableCondition: later}
}

// Partition returns how many of the matched pods stay at the old revision, if all can be updated. A percentage is rounded as the
// switches say, and nil means 0. A text that is no percentage is an error. (SCS-7)
func (f Features) Partition(partition *intstr.IntOrString, matched int32) (int32, error) {
	if f.PartitionRoundsUp { // (SCS-30)
		return rollout.Partition(partition, matched)
	}
	return rollout.Count("partition", ptr.Deref(partition, zero), matched, rollout.RoundDown)
}

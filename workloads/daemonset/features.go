// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/inplace/rollout"
)

// Features switches what differs between installations.
type Features struct {
	// AssignDirectly assigns pods to their nodes by spec.nodeName, past the scheduler
	// and what it knows of other pods. Default false: the scheduler assigns them, held
	// to the node by the pod's node affinity.
	AssignDirectly bool
	// NoEnvFromMetadata treats a changed label or annotation as plain
	// metadata, even if the environment of a container refers to it. For
	// clusters whose nodes run no agent.
	NoEnvFromMetadata bool
	// InPlaceResize changes cpu and memory of containers in place, by the subresource resize
	// of pods (Kubernetes 1.33 and later). Pods that cannot be resized are recreated, as all
	// are without it.
	InPlaceResize bool
	// PreDownload pulls images to the nodes ahead of an update. It needs
	// Options.Jobs.
	PreDownload bool
	// PreDownloadSandboxConfig gives jobs that pull images ahead the labels and annotations of the pods, for container runtimes
	// that choose by them how they pull. OpenKruise does so from 1.5 on. (IP-44)
	PreDownloadSandboxConfig bool
	// PartitionRoundsDown rounds a partition in percent down, as OpenKruise 1.9 does. (DS-25)
	PartitionRoundsDown bool
}

// FeaturesOf returns the switches as a release of OpenKruise has them by default. Release14 is the zero Features.
func FeaturesOf(release podwright.Release) Features {
	later := release == podwright.Release19
	return Features{PartitionRoundsDown: later, PreDownloadSandboxConfig: later}
}

// Partition returns how many of the nodes that should run a pod stay at the old template. A percentage is rounded as the switches say; a
// number stands for itself, and nil means 0. A negative number, and a text that is no percentage, are errors. (DS-V3, DS-9)
func (f Features) Partition(partition *intstr.IntOrString, nodes int32) (int32, error) {
	value := ptr.Deref(partition, intstr.FromInt32(0))
	switch {
	case value.Type == intstr.String && f.PartitionRoundsDown: // (DS-25)
		n, err := rollout.Count("partition", value, nodes, rollout.RoundDown)
		return min(n, nodes), err
	case value.Type == intstr.String:
		return rollout.Partition(&value, nodes)
	case value.IntVal < 0:
		return 0, fmt.Errorf("partition: found %d, want 0 or more", value.IntVal)
	}
	return value.IntVal, nil
}

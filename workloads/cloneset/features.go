// SPDX-License-Identifier: Apache-2.0

package cloneset

import "github.com/podwright/podwright"

// Features switches what differs between installations.
type Features struct {
	// ShortHash writes only the hash of a revision, not its whole name, into
	// the label controller-revision-hash. Needed if names of CloneSets are
	// too long for a label value. Pods labelled either way are recognised.
	ShortHash bool
	// PartitionRollback rolls pods back to the current revision when the
	// partition is raised.
	PartitionRollback bool
	// ExcludePreparingDelete leaves pods in the state PreparingDelete out of
	// the replicas, for all CloneSets; one CloneSet asks for it by label.
	ExcludePreparingDelete bool
	// NoEnvFromMetadata treats a changed label or annotation as plain
	// metadata, even if the environment of a container refers to it. For
	// clusters whose nodes run no agent.
	NoEnvFromMetadata bool
	// InPlaceResize changes cpu and memory of containers in place, by the subresource resize
	// of pods (Kubernetes 1.33 and later). Pods that cannot be resized are recreated, as all
	// are without it.
	InPlaceResize bool
	// LaunchPriority makes pods whose containers start in the order that the
	// template asks for, without a pod webhook. It needs the controller of
	// package launchpriority to run: no other controller starts these containers.
	LaunchPriority bool
	// PreDownload pulls images to the nodes ahead of an in-place update. It
	// needs Options.Jobs. Containers whose imagePullPolicy is Always, the default
	// in workloads, still ask the registry when they start; they download
	// nothing. With IfNotPresent they start without it.
	PreDownload bool
	// PreDownloadSandboxConfig gives jobs that pull images ahead the labels and annotations of the pods, for container runtimes
	// that choose by them how they pull. OpenKruise does so from 1.5 on. (IP-44)
	PreDownloadSandboxConfig bool

	// PauseWithoutSurge makes maxSurge 0 while the update is paused, as OpenKruise does from 1.5 on. No pod is
	// created beside the replicas, for whatever reason, and those that are there are scaled in. (CS-42)
	PauseWithoutSurge bool
	// PreparingUpdateAsUpdate has the scale step count pods in the state PreparingUpdate as updated ones. (CS-43)
	PreparingUpdateAsUpdate bool
	// ClaimTemplateHash notes a hash of the claim templates on revisions. (CS-44)
	ClaimTemplateHash bool
	// RecreateForClaims recreates a pod that would be updated in place, if the claim templates have changed since its
	// revision was made. It includes ClaimTemplateHash. (CS-45)
	RecreateForClaims bool
	// KeepOrder has pods of equal priority updated in the order that there is without a priority. (CS-46)
	KeepOrder bool
	// ProgressReasons gives the condition Progressing the states, reasons and messages of OpenKruise 1.9. (CS-47)
	ProgressReasons bool
	// NormalOnceBound leaves a new pod without a preNormal hook alone until it has a node. (LC-30)
	NormalOnceBound bool
}

// FeaturesOf returns the switches as a release of OpenKruise has them by default. Release14 is the zero Features.
func FeaturesOf(release podwright.Release) Features {
	later := release == podwright.Release19
	return Features{PauseWithoutSurge: later, ClaimTemplateHash: later, KeepOrder: later, ProgressReasons: later, NormalOnceBound: later,
		PreDownloadSandboxConfig: later}
}

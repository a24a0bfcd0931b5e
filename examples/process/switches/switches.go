// SPDX-License-Identifier: Apache-2.0

// Package switches turns feature gates into the switches of the controllers. So the manager that runs them,
// and the plugin that says what they do next, mean the same by a gate.
//
// What takes more than a gate is left off, for callers to set. To pull images ahead takes jobs that do it, and some
// switches have flags of their own.
package switches

import (
	"github.com/podwright/podwright/availability/podunavailablebudget"
	"github.com/podwright/podwright/examples/process/features"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/sidecarset"
	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/daemonset"
	"github.com/podwright/podwright/workloads/statefulset"
	"github.com/podwright/podwright/workloads/uniteddeployment"
)

// CloneSet returns the switches of CloneSets.
func CloneSet(gates *features.Gates) cloneset.Features {
	return cloneset.Features{
		ShortHash:                gates.Enabled(features.CloneSetShortHash),
		PartitionRollback:        gates.Enabled(features.CloneSetPartitionRollback),
		NoEnvFromMetadata:        !gates.Enabled(features.InPlaceUpdateEnvFromMetadata),
		InPlaceResize:            gates.Enabled(features.InPlaceWorkloadVerticalScaling),
		LaunchPriority:           gates.Enabled(features.PodWebhook),
		PreDownloadSandboxConfig: gates.Enabled(features.PreDownloadSandboxConfig),
		PauseWithoutSurge:        gates.Enabled(features.CloneSetPauseWithoutSurge),
		PreparingUpdateAsUpdate:  gates.Enabled(features.PreparingUpdateAsUpdate),
		ClaimTemplateHash:        gates.Enabled(features.CloneSetClaimTemplateHash),
		RecreateForClaims:        gates.Enabled(features.RecreatePodWhenChangeVCTInCloneSetGate),
		KeepOrder:                gates.Enabled(features.CloneSetKeepOrder),
		ProgressReasons:          gates.Enabled(features.CloneSetProgressReasons),
		NormalOnceBound:          gates.Enabled(features.CloneSetNormalOnceBound),
	}
}

// StatefulSet returns the switches of StatefulSets.
func StatefulSet(gates *features.Gates) statefulset.Features {
	return statefulset.Features{
		PreDownloadSandboxConfig: gates.Enabled(features.PreDownloadSandboxConfig),
		NoAutoDeleteClaims:       !gates.Enabled(features.StatefulSetAutoDeletePVC),
		NoEnvFromMetadata:        !gates.Enabled(features.InPlaceUpdateEnvFromMetadata),
		InPlaceResize:            gates.Enabled(features.InPlaceWorkloadVerticalScaling),
		LaunchPriority:           gates.Enabled(features.PodWebhook),
		StartOrdinal:             gates.Enabled(features.StatefulSetStartOrdinal),
		RepeatedOrdinals:         gates.Enabled(features.StatefulSetRepeatedOrdinals),
		PartitionCountsPods:      gates.Enabled(features.StatefulSetPartitionCountsPods),
		UpdateUnavailable:        gates.Enabled(features.StatefulSetUpdateUnavailable),
		SpecifiedDelete:          gates.Enabled(features.StatefulSetSpecifiedDelete),
		PreNormal:                gates.Enabled(features.StatefulSetPreNormal),
		PreparingUpdateAsUpdate:  gates.Enabled(features.PreparingUpdateAsUpdate),
		KeepClaimLabels:          gates.Enabled(features.StatefulSetKeepClaimLabels),
		NoPodIndexLabel:          !gates.Enabled(features.PodIndexLabel),
		ResizeClaims:             gates.Enabled(features.StatefulSetAutoResizePVCGate),
		CountClaims:              gates.Enabled(features.StatefulSetCountClaims),
	}
}

// DaemonSet returns the switches of DaemonSets.
func DaemonSet(gates *features.Gates) daemonset.Features {
	return daemonset.Features{
		NoEnvFromMetadata:        !gates.Enabled(features.InPlaceUpdateEnvFromMetadata),
		InPlaceResize:            gates.Enabled(features.InPlaceWorkloadVerticalScaling),
		PreDownloadSandboxConfig: gates.Enabled(features.PreDownloadSandboxConfig),
		PartitionRoundsDown:      gates.Enabled(features.DaemonSetPartitionRoundsDown),
	}
}

// Injection returns the switches of what SidecarSets inject.
func Injection(gates *features.Gates) injection.Features {
	return injection.Features{
		InitContainerDefaults: gates.Enabled(features.SidecarSetInitContainerDefaults),
		InitContainerRecords:  gates.Enabled(features.SidecarSetInitContainerRecords),
		NativeSidecars:        gates.Enabled(features.SidecarSetNativeSidecars),
		SortContainers:        gates.Enabled(features.EnableSortSidecarContainerByName),
	}
}

// UnitedDeployment returns the switches of UnitedDeployments.
func UnitedDeployment(gates *features.Gates) uniteddeployment.Features {
	return uniteddeployment.Features{
		AdaptiveScheduling: gates.Enabled(features.UnitedDeploymentAdaptive),
		UpdatedCondition:   gates.Enabled(features.UnitedDeploymentUpdatedCondition),
		SubsetStatuses:     gates.Enabled(features.UnitedDeploymentSubsetStatuses),
		RevisionLabel:      gates.Enabled(features.UnitedDeploymentRevisionLabel),
		ReservedLabels:     gates.Enabled(features.UnitedDeploymentReservedLabels),
	}
}

// SidecarSet returns the switches of SidecarSets.
func SidecarSet(gates *features.Gates) sidecarset.Features {
	return sidecarset.Features{
		PartitionRoundsUp: gates.Enabled(features.SidecarSetPartitionRoundsUp),
		ReplacePatch:      gates.Enabled(features.SidecarSetReplacePatch),

		UpgradableCondition: gates.Enabled(features.SidecarSetUpgradable),
	}
}

// PodUnavailableBudget returns the switches of PodUnavailableBudgets.
func PodUnavailableBudget(gates *features.Gates) podunavailablebudget.Features {
	return podunavailablebudget.Features{
		ResizesAlone:      gates.Enabled(features.InPlacePodVerticalScaling),
		AnnotatedTotal:    gates.Enabled(features.PodUnavailableBudgetAnnotatedTotal),
		InconsistentMayGo: gates.Enabled(features.PodUnavailableBudgetInconsistentMayGo),
	}
}

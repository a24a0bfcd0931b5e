// SPDX-License-Identifier: Apache-2.0

// Package features has the feature gates of OpenKruise 1.4 to 1.9: their names, and the stages, defaults and couplings
// that a release gives them. So the arguments of its Deployment and DaemonSet keep their meaning.
package features

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/podwright/podwright"
)

// The gates that switch something here, by the names that they have on the command line.
const (
	PodWebhook                         Gate = "PodWebhook"
	KruiseDaemon                       Gate = "KruiseDaemon"
	DaemonWatchingPod                  Gate = "DaemonWatchingPod"
	CloneSetShortHash                  Gate = "CloneSetShortHash"
	KruisePodReadinessGate             Gate = "KruisePodReadinessGate"
	PreDownloadImageForInPlaceUpdate   Gate = "PreDownloadImageForInPlaceUpdate"
	PreDownloadImageForDaemonSetUpdate Gate = "PreDownloadImageForDaemonSetUpdate"
	CloneSetPartitionRollback          Gate = "CloneSetPartitionRollback"
	ResourcesDeletionProtection        Gate = "ResourcesDeletionProtection"
	TemplateNoDefaults                 Gate = "TemplateNoDefaults"
	InPlaceUpdateEnvFromMetadata       Gate = "InPlaceUpdateEnvFromMetadata"
	StatefulSetAutoDeletePVC           Gate = "StatefulSetAutoDeletePVC"
	SidecarTerminator                  Gate = "SidecarTerminator"
	PodUnavailableBudgetDeleteGate     Gate = "PodUnavailableBudgetDeleteGate"
	PodUnavailableBudgetUpdateGate     Gate = "PodUnavailableBudgetUpdateGate"
	WorkloadSpread                     Gate = "WorkloadSpread"
	PodProbeMarkerGate                 Gate = "PodProbeMarkerGate"
	ImagePullJobGate                   Gate = "ImagePullJobGate" // of later releases of OpenKruise

	SidecarSetPatchPodMetadataDefaultsAllowed Gate = "SidecarSetPatchPodMetadataDefaultsAllowed"
	SidecarSetPolicies                        Gate = "SidecarSetPolicies"                   // podwright's own
	ResourceDistributionGate                  Gate = "ResourceDistributionGate"             // of later releases of OpenKruise
	EvictionResponder                         Gate = "EvictionResponder"                    // podwright's own
	PersistentPodStateRestoreAnnotations      Gate = "PersistentPodStateRestoreAnnotations" // podwright's own
	InPlaceWorkloadVerticalScaling            Gate = "InPlaceWorkloadVerticalScaling"       // of later releases of OpenKruise
	PreparingUpdateAsUpdate                   Gate = "PreparingUpdateAsUpdate"              // of later releases of OpenKruise
	RecreatePodWhenChangeVCTInCloneSetGate    Gate = "RecreatePodWhenChangeVCTInCloneSetGate"
	PodIndexLabel                             Gate = "PodIndexLabel"                // of later releases of OpenKruise
	StatefulSetAutoResizePVCGate              Gate = "StatefulSetAutoResizePVCGate" // of later releases of OpenKruise
	StatefulSetStartOrdinal                   Gate = "StatefulSetStartOrdinal"      // of later releases of OpenKruise
	EnableSortSidecarContainerByName          Gate = "EnableSortSidecarContainerByName"
	EnablePodProbeMarkerOnServerless          Gate = "EnablePodProbeMarkerOnServerless"
	InPlacePodVerticalScaling                 Gate = "InPlacePodVerticalScaling" // of later releases of OpenKruise
	DeletionProtectionForCRDCascadingGate     Gate = "DeletionProtectionForCRDCascadingGate"
	EnableExternalCerts                       Gate = "EnableExternalCerts" // of later releases of OpenKruise
)

// The gates of podwright for what OpenKruise 1.9 does otherwise than 1.4, and has no gate for.
const (
	CloneSetPauseWithoutSurge Gate = "CloneSetPauseWithoutSurge"
	CloneSetClaimTemplateHash Gate = "CloneSetClaimTemplateHash"
	CloneSetKeepOrder         Gate = "CloneSetKeepOrder"
	CloneSetProgressReasons   Gate = "CloneSetProgressReasons"
	CloneSetNormalOnceBound   Gate = "CloneSetNormalOnceBound"
	CloneSetPercentSigns      Gate = "CloneSetPercentSigns"

	SidecarSetInitContainerDefaults Gate = "SidecarSetInitContainerDefaults"
	SidecarSetInitContainerRecords  Gate = "SidecarSetInitContainerRecords"
	SidecarSetNativeSidecars        Gate = "SidecarSetNativeSidecars"

	LaunchPriorityFirstKey           Gate = "LaunchPriorityFirstKey"
	LaunchPriorityMark               Gate = "LaunchPriorityMark"
	UnitedDeploymentUpdatedCondition Gate = "UnitedDeploymentUpdatedCondition"
	UnitedDeploymentReservedLabels   Gate = "UnitedDeploymentReservedLabels"
	UnitedDeploymentAdaptive         Gate = "UnitedDeploymentAdaptive"
	UnitedDeploymentSubsetStatuses   Gate = "UnitedDeploymentSubsetStatuses"
	UnitedDeploymentRevisionLabel    Gate = "UnitedDeploymentRevisionLabel"
	ContainerRecreateVirtualNodes    Gate = "ContainerRecreateVirtualNodes"
	PreDownloadSandboxConfig         Gate = "PreDownloadSandboxConfig"
	DaemonSetPartitionRoundsDown     Gate = "DaemonSetPartitionRoundsDown"
	DaemonSetFixedSelector           Gate = "DaemonSetFixedSelector"
	WorkloadSpreadTryPatches         Gate = "WorkloadSpreadTryPatches"

	SidecarSetPartitionRoundsUp Gate = "SidecarSetPartitionRoundsUp"
	SidecarSetReplacePatch      Gate = "SidecarSetReplacePatch"
	SidecarSetUpgradable        Gate = "SidecarSetUpgradable"

	StatefulSetRepeatedOrdinals    Gate = "StatefulSetRepeatedOrdinals"
	StatefulSetPartitionCountsPods Gate = "StatefulSetPartitionCountsPods"
	StatefulSetUpdateUnavailable   Gate = "StatefulSetUpdateUnavailable"
	StatefulSetSpecifiedDelete     Gate = "StatefulSetSpecifiedDelete"
	StatefulSetPreNormal           Gate = "StatefulSetPreNormal"
	StatefulSetKeepClaimLabels     Gate = "StatefulSetKeepClaimLabels"
	StatefulSetCountClaims         Gate = "StatefulSetCountClaims"

	PodUnavailableBudgetAnnotatedTotal    Gate = "PodUnavailableBudgetAnnotatedTotal"
	PodUnavailableBudgetInconsistentMayGo Gate = "PodUnavailableBudgetInconsistentMayGo"
	PodUnavailableBudgetDenialEvents      Gate = "PodUnavailableBudgetDenialEvents"
	DeletionProtectionBoundClaims         Gate = "DeletionProtectionBoundClaims"
	PodProbeMarkerPlainNames              Gate = "PodProbeMarkerPlainNames"
	WebhooksExemptKubeSystem              Gate = "WebhooksExemptKubeSystem"
)

// known are the gates that switch something, unused those that are accepted only. Several are alpha although they are
// on: that is how AllAlpha=false turns them off.
var (
	known = map[Gate]specs{
		PodWebhook:                         {beta(on)},
		KruiseDaemon:                       {beta(on)},
		DaemonWatchingPod:                  {beta(on)},
		CloneSetShortHash:                  {alpha(off)},
		KruisePodReadinessGate:             {alpha(off)},
		PreDownloadImageForInPlaceUpdate:   {alpha(off)},
		PreDownloadImageForDaemonSetUpdate: {alpha(off)},
		CloneSetPartitionRollback:          {alpha(off)},
		ResourcesDeletionProtection:        {alpha(on), beta(off)},
		TemplateNoDefaults:                 {alpha(off)},
		InPlaceUpdateEnvFromMetadata:       {alpha(on), beta(on)},
		StatefulSetAutoDeletePVC:           {alpha(on), beta(on)},
		SidecarTerminator:                  {alpha(off)},
		PodUnavailableBudgetDeleteGate:     {alpha(on), beta(on)},
		PodUnavailableBudgetUpdateGate:     {alpha(off)},
		WorkloadSpread:                     {alpha(on), beta(on)},
		PodProbeMarkerGate:                 {alpha(on), beta(on)},
		ImagePullJobGate:                   {alpha(on), alpha(off)}, // 1.4 needs KruiseDaemon alone

		SidecarSetPatchPodMetadataDefaultsAllowed: {alpha(off)},
		SidecarSetPolicies:                        {alpha(off)},
		ResourceDistributionGate:                  {alpha(off)},
		EvictionResponder:                         {alpha(off)},
		PersistentPodStateRestoreAnnotations:      {alpha(off)},
		InPlaceWorkloadVerticalScaling:            {alpha(off)},
		PreparingUpdateAsUpdate:                   {alpha(off)},
		RecreatePodWhenChangeVCTInCloneSetGate:    {alpha(off)},
		PodIndexLabel:                             {beta(on)},
		StatefulSetAutoResizePVCGate:              {alpha(off)},
		StatefulSetStartOrdinal:                   {alpha(off)},
		EnableSortSidecarContainerByName:          {alpha(off)},
		EnablePodProbeMarkerOnServerless:          {alpha(off)},
		InPlacePodVerticalScaling:                 {alpha(off)},
		DeletionProtectionForCRDCascadingGate:     {beta(on), alpha(off)},                     // 1.4 has none, and counts
		EnableExternalCerts:                       {{Default: off, Stage: Later}, alpha(off)}, // what a cluster of 1.4 has no Secret for

		CloneSetPauseWithoutSurge: since19(),
		CloneSetClaimTemplateHash: since19(),
		CloneSetKeepOrder:         since19(),
		CloneSetProgressReasons:   since19(),
		CloneSetNormalOnceBound:   since19(),
		CloneSetPercentSigns:      since19(),

		SidecarSetInitContainerDefaults: since19(),
		SidecarSetInitContainerRecords:  since19(),
		SidecarSetNativeSidecars:        since19(),

		LaunchPriorityFirstKey:           since19(),
		LaunchPriorityMark:               since19(),
		UnitedDeploymentUpdatedCondition: since19(),
		UnitedDeploymentReservedLabels:   since19(),
		UnitedDeploymentAdaptive:         since19(),
		UnitedDeploymentSubsetStatuses:   since19(),
		UnitedDeploymentRevisionLabel:    since19(),
		ContainerRecreateVirtualNodes:    since19(),
		PreDownloadSandboxConfig:         since19(),
		DaemonSetPartitionRoundsDown:     since19(),
		DaemonSetFixedSelector:           since19(),
		WorkloadSpreadTryPatches:         since19(),

		SidecarSetPartitionRoundsUp: since19(),
		SidecarSetReplacePatch:      since19(),
		SidecarSetUpgradable:        since19(),

		StatefulSetRepeatedOrdinals:    since19(),
		StatefulSetPartitionCountsPods: since19(),
		StatefulSetUpdateUnavailable:   since19(),
		StatefulSetSpecifiedDelete:     since19(),
		StatefulSetPreNormal:           since19(),
		StatefulSetKeepClaimLabels:     since19(),
		StatefulSetCountClaims:         since19(),

		PodUnavailableBudgetAnnotatedTotal:    since19(),
		PodUnavailableBudgetInconsistentMayGo: since19(),
		PodUnavailableBudgetDenialEvents:      since19(),
		DeletionProtectionBoundClaims:         since19(),
		PodProbeMarkerPlainNames:              since19(),
		WebhooksExemptKubeSystem:              since19(),
	}
	unused = map[Gate]specs{
		"CloneSetEventHandlerOptimization":  {alpha(off)},
		"EnhancedLivenessProbe":             {alpha(off)},
		"ForceDeleteTimeoutExpectationGate": {alpha(off)},
	}
)

const on, off = true, false

// alpha and beta are what a gate is in a release.
func alpha(byDefault bool) Spec { return Spec{Default: byDefault, Stage: Alpha} }

func beta(byDefault bool) Spec { return Spec{Default: byDefault, Stage: Beta} }

// since19 is a gate of podwright for what OpenKruise does from 1.9 on. It is beta, so that AllAlpha=true does not make
// another release of 1.4.
func since19() specs { return specs{beta(off), beta(on)} }

// coupled returns, by gate, those that are off without it, whatever is said of them.
func (f Flags) coupled() map[Gate][]Gate {
	webhook := []Gate{
		KruisePodReadinessGate, PodUnavailableBudgetDeleteGate, PodUnavailableBudgetUpdateGate, WorkloadSpread,
		SidecarSetPatchPodMetadataDefaultsAllowed, EnablePodProbeMarkerOnServerless,
	}
	if f.Release != podwright.Release19 {
		webhook = append(webhook, ResourcesDeletionProtection) // until 1.6.1
	}
	return map[Gate][]Gate{
		PodWebhook: webhook,
		KruiseDaemon: {
			PreDownloadImageForInPlaceUpdate, PreDownloadImageForDaemonSetUpdate, DaemonWatchingPod,
			InPlaceUpdateEnvFromMetadata, PodProbeMarkerGate, SidecarTerminator, ImagePullJobGate,
		},
	}
}

// Flags are what decides which gates are on.
type Flags struct {
	// Gates is the value of --feature-gates: "CloneSetShortHash=true,AllAlpha=false".
	Gates string
	// Release is the one whose stages, defaults and couplings the gates have. Default: 1.4.
	Release podwright.Release
	// CustomResources is the legacy variable CUSTOM_RESOURCE_ENABLE, a list of kinds: if it is set and lacks SidecarSet,
	// PodWebhook defaults to false.
	CustomResources string
}

// AddFlags defines --feature-gates and --release. The values that the fields have are the defaults.
func (f *Flags) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&f.Gates, "feature-gates", f.Gates, usage())
	flags.Var(&f.Release, "release", "release of OpenKruise, 1.4 or 1.9, to behave as if the two differ; gates have its stages and defaults")
}

// Parse reads the gates. It returns an error for unknown names and wrong values.
func (f Flags) Parse() (*Gates, error) {
	gates := f.newGates()
	if f.CustomResources != "" && !slices.Contains(strings.Split(strings.ReplaceAll(f.CustomResources, " ", ""), ","), "SidecarSet") {
		gates.all[PodWebhook] = beta(off)
	}
	if err := gates.parse(f.Gates); err != nil {
		return nil, err
	}
	for needed, dependents := range f.coupled() {
		if gates.Enabled(needed) {
			continue
		}
		for _, dependent := range dependents {
			gates.set[dependent] = off
		}
	}
	if gates.Enabled(PreDownloadImageForInPlaceUpdate) || gates.Enabled(PreDownloadImageForDaemonSetUpdate) { // whose jobs pull
		gates.set[ImagePullJobGate] = on
	}
	return gates, nil
}

func (f Flags) newGates() *Gates {
	gates := &Gates{all: map[Gate]Spec{}, set: map[Gate]bool{}}
	for _, some := range []map[Gate]specs{known, unused} {
		for gate, versions := range some {
			gates.all[gate] = versions.of(f.Release)
		}
	}
	return gates
}

// usage describes the gates, one a line, as release 1.4 has them.
func usage() string {
	return "Name=true|false,…, of:\n" + strings.Join(Flags{}.newGates().help(), "\n")
}

// WithoutEffect returns the gates, sorted, that --feature-gates names although they switch nothing here.
func (f Flags) WithoutEffect() (names []string) {
	for _, name := range slices.Sorted(maps.Keys(unused)) {
		if strings.Contains(f.Gates, string(name)) {
			names = append(names, string(name))
		}
	}
	return names
}

// Defaults returns all gates but AllAlpha and AllBeta, and whether they are on by default in the release.
func (f Flags) Defaults() map[string]bool {
	defaults := map[string]bool{}
	for gate, spec := range f.newGates().all {
		defaults[string(gate)] = spec.Default
	}
	return defaults
}

// SPDX-License-Identifier: Apache-2.0

// Package features has the feature gates of OpenKruise 1.4 to 1.9: their names, and the stages, defaults and couplings
// that a release gives them. So the arguments of its Deployment and DaemonSet keep their meaning.
package features

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/component-base/featuregate"

	"github.com/podwright/podwright"
)

// The gates that switch something here, by the names that they have on the command line.
const (
	PodWebhook                         featuregate.Feature = "PodWebhook"
	KruiseDaemon                       featuregate.Feature = "KruiseDaemon"
	DaemonWatchingPod                  featuregate.Feature = "DaemonWatchingPod"
	CloneSetShortHash                  featuregate.Feature = "CloneSetShortHash"
	KruisePodReadinessGate             featuregate.Feature = "KruisePodReadinessGate"
	PreDownloadImageForInPlaceUpdate   featuregate.Feature = "PreDownloadImageForInPlaceUpdate"
	PreDownloadImageForDaemonSetUpdate featuregate.Feature = "PreDownloadImageForDaemonSetUpdate"
	CloneSetPartitionRollback          featuregate.Feature = "CloneSetPartitionRollback"
	ResourcesDeletionProtection        featuregate.Feature = "ResourcesDeletionProtection"
	TemplateNoDefaults                 featuregate.Feature = "TemplateNoDefaults"
	InPlaceUpdateEnvFromMetadata       featuregate.Feature = "InPlaceUpdateEnvFromMetadata"
	StatefulSetAutoDeletePVC           featuregate.Feature = "StatefulSetAutoDeletePVC"
	SidecarTerminator                  featuregate.Feature = "SidecarTerminator"
	PodUnavailableBudgetDeleteGate     featuregate.Feature = "PodUnavailableBudgetDeleteGate"
	PodUnavailableBudgetUpdateGate     featuregate.Feature = "PodUnavailableBudgetUpdateGate"
	WorkloadSpread                     featuregate.Feature = "WorkloadSpread"
	PodProbeMarkerGate                 featuregate.Feature = "PodProbeMarkerGate"
	ImagePullJobGate                   featuregate.Feature = "ImagePullJobGate" // of later releases of OpenKruise

	SidecarSetPatchPodMetadataDefaultsAllowed featuregate.Feature = "SidecarSetPatchPodMetadataDefaultsAllowed"
	SidecarSetPolicies                        featuregate.Feature = "SidecarSetPolicies"             // podwright's own
	ResourceDistributionGate                  featuregate.Feature = "ResourceDistributionGate"       // of later releases of OpenKruise
	EvictionResponder                         featuregate.Feature = "EvictionResponder"              // podwright's own
	InPlaceWorkloadVerticalScaling            featuregate.Feature = "InPlaceWorkloadVerticalScaling" // of later releases of OpenKruise
	PreparingUpdateAsUpdate                   featuregate.Feature = "PreparingUpdateAsUpdate"        // of later releases of OpenKruise
	RecreatePodWhenChangeVCTInCloneSetGate    featuregate.Feature = "RecreatePodWhenChangeVCTInCloneSetGate"
	PodIndexLabel                             featuregate.Feature = "PodIndexLabel"                // of later releases of OpenKruise
	StatefulSetAutoResizePVCGate              featuregate.Feature = "StatefulSetAutoResizePVCGate" // of later releases of OpenKruise
	StatefulSetStartOrdinal                   featuregate.Feature = "StatefulSetStartOrdinal"      // of later releases of OpenKruise
)

// The gates of podwright for what OpenKruise 1.9 does otherwise than 1.4, and has no gate for.
const (
	CloneSetPauseWithoutSurge featuregate.Feature = "CloneSetPauseWithoutSurge"
	CloneSetClaimTemplateHash featuregate.Feature = "CloneSetClaimTemplateHash"
	CloneSetKeepOrder         featuregate.Feature = "CloneSetKeepOrder"
	CloneSetProgressReasons   featuregate.Feature = "CloneSetProgressReasons"
	CloneSetNormalOnceBound   featuregate.Feature = "CloneSetNormalOnceBound"
	CloneSetPercentSigns      featuregate.Feature = "CloneSetPercentSigns"

	LaunchPriorityFirstKey           featuregate.Feature = "LaunchPriorityFirstKey"
	LaunchPriorityMark               featuregate.Feature = "LaunchPriorityMark"
	UnitedDeploymentUpdatedCondition featuregate.Feature = "UnitedDeploymentUpdatedCondition"
	UnitedDeploymentReservedLabels   featuregate.Feature = "UnitedDeploymentReservedLabels"
	ContainerRecreateVirtualNodes    featuregate.Feature = "ContainerRecreateVirtualNodes"
	PreDownloadSandboxConfig         featuregate.Feature = "PreDownloadSandboxConfig"
	DaemonSetPartitionRoundsDown     featuregate.Feature = "DaemonSetPartitionRoundsDown"
	DaemonSetFixedSelector           featuregate.Feature = "DaemonSetFixedSelector"

	StatefulSetRepeatedOrdinals    featuregate.Feature = "StatefulSetRepeatedOrdinals"
	StatefulSetPartitionCountsPods featuregate.Feature = "StatefulSetPartitionCountsPods"
	StatefulSetUpdateUnavailable   featuregate.Feature = "StatefulSetUpdateUnavailable"
	StatefulSetSpecifiedDelete     featuregate.Feature = "StatefulSetSpecifiedDelete"
	StatefulSetPreNormal           featuregate.Feature = "StatefulSetPreNormal"
	StatefulSetKeepClaimLabels     featuregate.Feature = "StatefulSetKeepClaimLabels"
	StatefulSetCountClaims         featuregate.Feature = "StatefulSetCountClaims"
)

// known are the gates that switch something, unused those that are accepted only. Several are alpha although they are
// on: that is how AllAlpha=false turns them off.
var (
	known = map[featuregate.Feature]featuregate.VersionedSpecs{
		PodWebhook:                         {beta(on)},
		KruiseDaemon:                       {beta(on)},
		DaemonWatchingPod:                  {beta(on)},
		CloneSetShortHash:                  {alpha(off)},
		KruisePodReadinessGate:             {alpha(off)},
		PreDownloadImageForInPlaceUpdate:   {alpha(off)},
		PreDownloadImageForDaemonSetUpdate: {alpha(off)},
		CloneSetPartitionRollback:          {alpha(off)},
		ResourcesDeletionProtection:        {alpha(on), from19(beta(off))},
		TemplateNoDefaults:                 {alpha(off)},
		InPlaceUpdateEnvFromMetadata:       {alpha(on), from19(beta(on))},
		StatefulSetAutoDeletePVC:           {alpha(on), from19(beta(on))},
		SidecarTerminator:                  {alpha(off)},
		PodUnavailableBudgetDeleteGate:     {alpha(on), from19(beta(on))},
		PodUnavailableBudgetUpdateGate:     {alpha(off)},
		WorkloadSpread:                     {alpha(on), from19(beta(on))},
		PodProbeMarkerGate:                 {alpha(on), from19(beta(on))},
		ImagePullJobGate:                   {alpha(on), from19(alpha(off))}, // 1.4 needs KruiseDaemon alone

		SidecarSetPatchPodMetadataDefaultsAllowed: {alpha(off)},
		SidecarSetPolicies:                        {alpha(off)},
		ResourceDistributionGate:                  {alpha(off)},
		EvictionResponder:                         {alpha(off)},
		InPlaceWorkloadVerticalScaling:            {alpha(off)},
		PreparingUpdateAsUpdate:                   {alpha(off)},
		RecreatePodWhenChangeVCTInCloneSetGate:    {alpha(off)},
		PodIndexLabel:                             {beta(on)},
		StatefulSetAutoResizePVCGate:              {alpha(off)},
		StatefulSetStartOrdinal:                   {alpha(off)},

		CloneSetPauseWithoutSurge: since19(),
		CloneSetClaimTemplateHash: since19(),
		CloneSetKeepOrder:         since19(),
		CloneSetProgressReasons:   since19(),
		CloneSetNormalOnceBound:   since19(),
		CloneSetPercentSigns:      since19(),

		LaunchPriorityFirstKey:           since19(),
		LaunchPriorityMark:               since19(),
		UnitedDeploymentUpdatedCondition: since19(),
		UnitedDeploymentReservedLabels:   since19(),
		ContainerRecreateVirtualNodes:    since19(),
		PreDownloadSandboxConfig:         since19(),
		DaemonSetPartitionRoundsDown:     since19(),
		DaemonSetFixedSelector:           since19(),

		StatefulSetRepeatedOrdinals:    since19(),
		StatefulSetPartitionCountsPods: since19(),
		StatefulSetUpdateUnavailable:   since19(),
		StatefulSetSpecifiedDelete:     since19(),
		StatefulSetPreNormal:           since19(),
		StatefulSetKeepClaimLabels:     since19(),
		StatefulSetCountClaims:         since19(),
	}
	unused = map[featuregate.Feature]featuregate.VersionedSpecs{
		"CloneSetEventHandlerOptimization":      {alpha(off)},
		"DeletionProtectionForCRDCascadingGate": {alpha(off)},
		"EnableExternalCerts":                   {alpha(off)},
		"EnablePodProbeMarkerOnServerless":      {alpha(off)},
		"EnableSortSidecarContainerByName":      {alpha(off)},
		"EnhancedLivenessProbe":                 {alpha(off)},
		"ForceDeleteTimeoutExpectationGate":     {alpha(off)},
		"InPlacePodVerticalScaling":             {alpha(off)},
	}
)

const on, off = true, false

// alpha and beta are what a gate is in every release, or before the one that from19 names.
func alpha(byDefault bool) featuregate.FeatureSpec {
	return featuregate.FeatureSpec{Default: byDefault, PreRelease: featuregate.Alpha, Version: version.MajorMinor(1, 0)}
}

func beta(byDefault bool) featuregate.FeatureSpec {
	return featuregate.FeatureSpec{Default: byDefault, PreRelease: featuregate.Beta, Version: version.MajorMinor(1, 0)}
}

func from19(spec featuregate.FeatureSpec) featuregate.FeatureSpec {
	spec.Version = version.MajorMinor(1, 9)
	return spec
}

// since19 is a gate of podwright for what OpenKruise does from 1.9 on. It is beta, so that AllAlpha=true does not make
// another release of 1.4.
func since19() featuregate.VersionedSpecs {
	return featuregate.VersionedSpecs{beta(off), from19(beta(on))}
}

// coupled returns, by gate, those that are off without it, whatever is said of them.
func (f Flags) coupled() map[featuregate.Feature][]featuregate.Feature {
	webhook := []featuregate.Feature{
		KruisePodReadinessGate, PodUnavailableBudgetDeleteGate, PodUnavailableBudgetUpdateGate, WorkloadSpread,
		SidecarSetPatchPodMetadataDefaultsAllowed,
	}
	if f.Release != podwright.Release19 {
		webhook = append(webhook, ResourcesDeletionProtection) // until 1.6.1
	}
	return map[featuregate.Feature][]featuregate.Feature{
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
func (f Flags) Parse() (featuregate.FeatureGate, error) {
	gates := f.newGates()
	if f.CustomResources != "" && !slices.Contains(strings.Split(strings.ReplaceAll(f.CustomResources, " ", ""), ","), "SidecarSet") {
		if err := gates.OverrideDefault(PodWebhook, false); err != nil {
			return nil, err
		}
	}
	if err := gates.Set(f.Gates); err != nil {
		return nil, err
	}
	for needed, dependents := range f.coupled() {
		if gates.Enabled(needed) {
			continue
		}
		off := map[string]bool{}
		for _, dependent := range dependents {
			off[string(dependent)] = false
		}
		if err := gates.SetFromMap(off); err != nil {
			return nil, err
		}
	}
	if gates.Enabled(PreDownloadImageForInPlaceUpdate) || gates.Enabled(PreDownloadImageForDaemonSetUpdate) { // whose jobs pull
		if err := gates.SetFromMap(map[string]bool{string(ImagePullJobGate): true}); err != nil {
			return nil, err
		}
	}
	return gates, nil
}

func (f Flags) newGates() featuregate.MutableVersionedFeatureGate {
	gates := featuregate.NewVersionedFeatureGate(version.MustParse(string(cmp.Or(f.Release, podwright.Release14))))
	for _, some := range []map[featuregate.Feature]featuregate.VersionedSpecs{known, unused} {
		if err := gates.AddVersioned(some); err != nil {
			panic(err) // the tables are wrong
		}
	}
	return gates
}

// usage describes the gates, one a line, as release 1.4 has them.
func usage() string {
	return "Name=true|false,…, of:\n" + strings.Join(Flags{}.newGates().KnownFeatures(), "\n")
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
	gates, defaults := f.newGates(), map[string]bool{}
	for name := range gates.GetAllVersioned() {
		if name != "AllAlpha" && name != "AllBeta" {
			defaults[string(name)] = gates.Enabled(name)
		}
	}
	return defaults
}

// SPDX-License-Identifier: Apache-2.0

// Package features has the feature gates of OpenKruise 1.4: their names, stages, defaults and couplings. So the
// arguments of its Deployment and DaemonSet keep their meaning.
package features

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/component-base/featuregate"
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

	SidecarSetPatchPodMetadataDefaultsAllowed featuregate.Feature = "SidecarSetPatchPodMetadataDefaultsAllowed"
	SidecarSetPolicies                        featuregate.Feature = "SidecarSetPolicies"             // podwright's own
	ResourceDistributionGate                  featuregate.Feature = "ResourceDistributionGate"       // of later releases of OpenKruise
	EvictionResponder                         featuregate.Feature = "EvictionResponder"              // podwright's own
	InPlaceWorkloadVerticalScaling            featuregate.Feature = "InPlaceWorkloadVerticalScaling" // of later releases of OpenKruise
)

// known are the gates that switch something, unused those that are accepted only. Several are alpha although they are
// on: that is how AllAlpha=false turns them off.
var (
	known = map[featuregate.Feature]featuregate.FeatureSpec{
		PodWebhook:                         {Default: true, PreRelease: featuregate.Beta},
		KruiseDaemon:                       {Default: true, PreRelease: featuregate.Beta},
		DaemonWatchingPod:                  {Default: true, PreRelease: featuregate.Beta},
		CloneSetShortHash:                  {PreRelease: featuregate.Alpha},
		KruisePodReadinessGate:             {PreRelease: featuregate.Alpha},
		PreDownloadImageForInPlaceUpdate:   {PreRelease: featuregate.Alpha},
		PreDownloadImageForDaemonSetUpdate: {PreRelease: featuregate.Alpha},
		CloneSetPartitionRollback:          {PreRelease: featuregate.Alpha},
		ResourcesDeletionProtection:        {Default: true, PreRelease: featuregate.Alpha},
		TemplateNoDefaults:                 {PreRelease: featuregate.Alpha},
		InPlaceUpdateEnvFromMetadata:       {Default: true, PreRelease: featuregate.Alpha},
		StatefulSetAutoDeletePVC:           {Default: true, PreRelease: featuregate.Alpha},
		SidecarTerminator:                  {PreRelease: featuregate.Alpha},
		PodUnavailableBudgetDeleteGate:     {Default: true, PreRelease: featuregate.Alpha},
		PodUnavailableBudgetUpdateGate:     {PreRelease: featuregate.Alpha},
		WorkloadSpread:                     {Default: true, PreRelease: featuregate.Alpha},
		PodProbeMarkerGate:                 {Default: true, PreRelease: featuregate.Alpha},

		SidecarSetPatchPodMetadataDefaultsAllowed: {PreRelease: featuregate.Alpha},
		SidecarSetPolicies:                        {PreRelease: featuregate.Alpha},
		ResourceDistributionGate:                  {PreRelease: featuregate.Alpha},
		EvictionResponder:                         {PreRelease: featuregate.Alpha},
		InPlaceWorkloadVerticalScaling:            {PreRelease: featuregate.Alpha},
	}
	unused = map[featuregate.Feature]featuregate.FeatureSpec{
		"CloneSetEventHandlerOptimization": {PreRelease: featuregate.Alpha},
	}
)

// coupled are, by gate, those that are off without it, whatever is said of them.
var coupled = map[featuregate.Feature][]featuregate.Feature{
	PodWebhook: {
		KruisePodReadinessGate, ResourcesDeletionProtection, PodUnavailableBudgetDeleteGate,
		PodUnavailableBudgetUpdateGate, WorkloadSpread, SidecarSetPatchPodMetadataDefaultsAllowed,
	},
	KruiseDaemon: {
		PreDownloadImageForInPlaceUpdate, PreDownloadImageForDaemonSetUpdate, DaemonWatchingPod,
		InPlaceUpdateEnvFromMetadata, PodProbeMarkerGate, SidecarTerminator,
	},
}

// Parse reads the value of --feature-gates. It returns an error for unknown names and wrong values.
//
// customResources is the legacy variable CUSTOM_RESOURCE_ENABLE, a list of kinds: if it is set and lacks SidecarSet,
// PodWebhook defaults to false.
func Parse(text, customResources string) (featuregate.FeatureGate, error) {
	gates := newGates()
	if customResources != "" && !slices.Contains(strings.Split(strings.ReplaceAll(customResources, " ", ""), ","), "SidecarSet") {
		if err := gates.OverrideDefault(PodWebhook, false); err != nil {
			return nil, err
		}
	}
	if err := gates.Set(text); err != nil {
		return nil, err
	}
	for needed, dependents := range coupled {
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
	return gates, nil
}

func newGates() featuregate.MutableVersionedFeatureGate {
	gates := featuregate.NewFeatureGate()
	for _, some := range []map[featuregate.Feature]featuregate.FeatureSpec{known, unused} {
		if err := gates.Add(some); err != nil {
			panic(err) // the tables are wrong
		}
	}
	return gates
}

// Usage describes the gates, one a line.
func Usage() string {
	return "Name=true|false,…, of:\n" + strings.Join(newGates().KnownFeatures(), "\n")
}

// WithoutEffect returns the gates, sorted, that a value of --feature-gates names although they switch nothing here.
func WithoutEffect(text string) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(unused)) {
		if strings.Contains(text, string(name)) {
			names = append(names, string(name))
		}
	}
	return names
}

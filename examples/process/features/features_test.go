// SPDX-License-Identifier: Apache-2.0

package features

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podwright/podwright"
)

// defaults are the gates that are on when nothing is set.
var defaults = []Gate{
	DaemonWatchingPod, DeletionProtectionForCRDCascadingGate, ImagePullJobGate, InPlaceUpdateEnvFromMetadata, KruiseDaemon, PodProbeMarkerGate, PodUnavailableBudgetDeleteGate,
	PodIndexLabel, PodWebhook, ResourcesDeletionProtection, StatefulSetAutoDeletePVC, WorkloadSpread,
}

// later are the gates of podwright for what OpenKruise does from 1.9 on. AllAlpha does not turn them on.
var later = []Gate{
	CloneSetClaimTemplateHash, CloneSetKeepOrder, CloneSetNormalOnceBound, CloneSetPauseWithoutSurge, CloneSetPercentSigns, CloneSetProgressReasons,
	ContainerRecreateVirtualNodes, DaemonSetFixedSelector, DaemonSetPartitionRoundsDown, LaunchPriorityFirstKey, LaunchPriorityMark, PreDownloadSandboxConfig,
	SidecarSetInitContainerDefaults, SidecarSetInitContainerRecords, SidecarSetNativeSidecars,
	SidecarSetPartitionRoundsUp, SidecarSetReplacePatch, SidecarSetUpgradable,
	StatefulSetCountClaims, StatefulSetKeepClaimLabels, StatefulSetPartitionCountsPods, StatefulSetPreNormal, StatefulSetRepeatedOrdinals,
	StatefulSetSpecifiedDelete, StatefulSetUpdateUnavailable, UnitedDeploymentAdaptive, UnitedDeploymentReservedLabels, UnitedDeploymentRevisionLabel, UnitedDeploymentSubsetStatuses,
	UnitedDeploymentUpdatedCondition,
	WorkloadSpreadTryPatches,
	PodUnavailableBudgetAnnotatedTotal, PodUnavailableBudgetInconsistentMayGo, PodUnavailableBudgetDenialEvents, DeletionProtectionBoundClaims, PodProbeMarkerPlainNames, WebhooksExemptKubeSystem,
}

var betaGates = []Gate{DaemonWatchingPod, DeletionProtectionForCRDCascadingGate, KruiseDaemon, PodIndexLabel, PodWebhook}

func TestParse(t *testing.T) {
	cases := map[string]struct {
		text, customResources string
		release               podwright.Release
		want                  []Gate
		withoutEffect         []string
	}{
		"PF-1: defaults":                      {want: defaults},
		"PF-1: blanks":                        {text: "CloneSetShortHash = true,", want: with(defaults, CloneSetShortHash)},
		"PF-1: off by name":                   {text: "ResourcesDeletionProtection=false", want: without(defaults, ResourcesDeletionProtection)},
		"PF-1: the last of two values counts": {text: "TemplateNoDefaults=true,TemplateNoDefaults=false", want: defaults},
		"PF-1 quirk: AllAlpha=false turns off what is on by default": {text: "AllAlpha=false", want: betaGates},
		"PF-1 quirk: AllAlpha=true turns on every alpha gate":        {text: "AllAlpha=true", want: alphas()},
		"PF-1: a name overrides AllAlpha, in any order": {
			text: "CloneSetShortHash=false,AllAlpha=true", want: without(alphas(), CloneSetShortHash),
		},
		"PF-1 coupling: PodWebhook": {
			text: "AllAlpha=true,PodWebhook=false",
			want: without(alphas(), PodWebhook, KruisePodReadinessGate, ResourcesDeletionProtection, PodUnavailableBudgetDeleteGate,
				PodUnavailableBudgetUpdateGate, WorkloadSpread, "SidecarSetPatchPodMetadataDefaultsAllowed", EnablePodProbeMarkerOnServerless),
		},
		"PF-1 coupling: KruiseDaemon": {
			text: "AllAlpha=true,KruiseDaemon=false",
			want: without(alphas(), KruiseDaemon, PreDownloadImageForInPlaceUpdate, PreDownloadImageForDaemonSetUpdate,
				DaemonWatchingPod, ImagePullJobGate, InPlaceUpdateEnvFromMetadata, PodProbeMarkerGate, SidecarTerminator),
		},
		"PF-1 coupling: overrides an explicit setting": {
			text: "KruiseDaemon=false,InPlaceUpdateEnvFromMetadata=true",
			want: without(defaults, KruiseDaemon, DaemonWatchingPod, ImagePullJobGate, InPlaceUpdateEnvFromMetadata, PodProbeMarkerGate),
		},
		"PF-1 coupling: AllBeta=false turns off both parents": {
			text: "AllBeta=false", want: []Gate{StatefulSetAutoDeletePVC},
		},
		"PF-1: release 1.9 does not protect from deletion unless it is told to": {
			release: podwright.Release19, want: with(without(defaults, DeletionProtectionForCRDCascadingGate, ImagePullJobGate, ResourcesDeletionProtection), later...),
		},
		"PF-1: what is beta in 1.9 does not hear of AllAlpha": {
			release: podwright.Release19, text: "AllAlpha=false", want: with(without(defaults, DeletionProtectionForCRDCascadingGate, ImagePullJobGate, ResourcesDeletionProtection), later...),
		},
		"PF-1 coupling: images that are pulled ahead need the jobs": {
			release: podwright.Release19, text: "PreDownloadImageForDaemonSetUpdate=true,ImagePullJobGate=false",
			want: with(without(defaults, DeletionProtectionForCRDCascadingGate, ResourcesDeletionProtection), append([]Gate{PreDownloadImageForDaemonSetUpdate}, later...)...),
		},
		"PF-1 coupling: but not without KruiseDaemon": {
			release: podwright.Release19, text: "PreDownloadImageForDaemonSetUpdate=true,ImagePullJobGate=true,KruiseDaemon=false",
			want: with(without(defaults, DeletionProtectionForCRDCascadingGate, KruiseDaemon, DaemonWatchingPod, ImagePullJobGate, InPlaceUpdateEnvFromMetadata, PodProbeMarkerGate, ResourcesDeletionProtection), later...),
		},
		"PF-5.4: certificates of other programs are none of 1.4's stages": {
			text: "AllAlpha=true,AllBeta=true", want: without(all(), EnableExternalCerts),
		},
		"PF-5.4: but can be named": {text: "EnableExternalCerts=true", want: with(defaults, EnableExternalCerts)},
		"PF-5.4: AllAlpha of 1.9 is about them, as the manifests of 1.9 know": {
			release: podwright.Release19, text: "AllAlpha=true,AllBeta=true", want: all(),
		},
		"PF-1: AllBeta of 1.9 turns its beta gates on": {
			release: podwright.Release19, text: "AllBeta=true", want: with(without(defaults, DeletionProtectionForCRDCascadingGate, ImagePullJobGate), later...),
		},
		"PF-1 coupling: deletion protection of 1.9 does not need PodWebhook": {
			release: podwright.Release19, text: "PodWebhook=false,ResourcesDeletionProtection=true",
			want: with(without(defaults, DeletionProtectionForCRDCascadingGate, ImagePullJobGate, PodWebhook, PodUnavailableBudgetDeleteGate, WorkloadSpread), later...),
		},
		"PF-1 legacy: kinds without SidecarSet": {
			customResources: "CloneSet,StatefulSet",
			want:            without(defaults, PodWebhook, ResourcesDeletionProtection, PodUnavailableBudgetDeleteGate, WorkloadSpread),
		},
		"PF-1 legacy: kinds with SidecarSet":            {customResources: "CloneSet, SidecarSet", want: defaults},
		"PF-1 legacy: a name overrides the legacy list": {customResources: "CloneSet", text: "PodWebhook=true", want: defaults},
		"a gate of a part that does not run is accepted and named": {
			text: "CloneSetEventHandlerOptimization=true,PodProbeMarkerGate=true,CloneSetShortHash=true",
			want: with(defaults, "CloneSetEventHandlerOptimization", CloneSetShortHash), withoutEffect: []string{
				"CloneSetEventHandlerOptimization",
			},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			flags := Flags{Gates: c.text, Release: c.release, CustomResources: c.customResources}
			gates, err := flags.Parse()
			if err != nil {
				t.Fatal(err)
			}
			var got []Gate
			for _, gate := range all() {
				if gates.Enabled(gate) {
					got = append(got, gate)
				}
			}
			slices.Sort(c.want)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("gates that are on (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.withoutEffect, flags.WithoutEffect()); diff != "" {
				t.Errorf("gates without effect (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"PodWebhooks=true":     "unrecognized feature gate: PodWebhooks",
		"CloneSetShortHash":    "missing bool value for CloneSetShortHash",
		"CloneSetShortHash=on": "invalid value of CloneSetShortHash=on",
	} {
		if _, err := (Flags{Gates: text}).Parse(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q) gives %v, want %q", text, err, want)
		}
	}
	if usage := usage(); !strings.Contains(usage, "CloneSetShortHash=true|false (ALPHA - default=false)") || !strings.Contains(usage, "AllAlpha") {
		t.Errorf("usage:\n%s", usage)
	}
}

// A gate that does not exist is a mistake of the program, which no user can make good.
func TestEnabledOfNoGate(t *testing.T) {
	gates, err := Flags{}.Parse()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a gate that does not exist is answered for")
		}
	}()
	gates.Enabled("Swift")
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"", "AllAlpha=true", "PodWebhook=false,KruiseDaemon=false", "a=b=c,,=", "CloneSetShortHash=T"} {
		f.Add(text, "CloneSet")
	}
	f.Fuzz(func(t *testing.T, text, customResources string) {
		flags := Flags{Gates: text, CustomResources: customResources}
		gates, err := flags.Parse()
		if err != nil {
			return
		}
		for needed, dependents := range flags.coupled() {
			for _, gate := range dependents {
				if gates.Enabled(gate) && !gates.Enabled(needed) {
					t.Errorf("Parse(%q): %s is on without %s", text, gate, needed)
				}
			}
		}
	})
}

func all() []Gate {
	var gates []Gate
	for _, some := range []map[Gate]specs{known, unused} {
		gates = slices.AppendSeq(gates, maps.Keys(some))
	}
	slices.Sort(gates)
	return gates
}

// alphas are all gates that AllAlpha has turned on, or that are on anyway.
func alphas() []Gate { return without(without(all(), later...), EnableExternalCerts) }

func with(gates []Gate, more ...Gate) []Gate {
	return append(slices.Clone(gates), more...)
}

func without(gates []Gate, less ...Gate) []Gate {
	return slices.DeleteFunc(slices.Clone(gates), func(gate Gate) bool { return slices.Contains(less, gate) })
}

// SPDX-License-Identifier: Apache-2.0

package switches

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/availability/podunavailablebudget"
	"github.com/podwright/podwright/examples/process/features"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/sidecarset"
	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/daemonset"
	"github.com/podwright/podwright/workloads/statefulset"
	"github.com/podwright/podwright/workloads/uniteddeployment"
)

// all returns the switches of all kinds, by kind and field.
func all(gates *features.Gates) map[string]bool {
	return flatten(map[string]any{"CloneSet": CloneSet(gates), "StatefulSet": StatefulSet(gates), "DaemonSet": DaemonSet(gates),
		"UnitedDeployment": UnitedDeployment(gates), "Injection": Injection(gates), "SidecarSet": SidecarSet(gates),
		"PodUnavailableBudget": PodUnavailableBudget(gates)})
}

func flatten(kinds map[string]any) map[string]bool {
	fields := map[string]bool{}
	for kind, of := range kinds {
		v := reflect.ValueOf(of)
		for i := range v.NumField() {
			fields[kind+"."+v.Type().Field(i).Name] = v.Field(i).Bool()
		}
	}
	return fields
}

// TestSettings: each flag beside the gates switches one field, so that who knows the flags knows what the controllers do.
func TestSettings(t *testing.T) {
	gates := parse(t, features.Flags{Release: podwright.Release14})
	of := func(s *Settings) map[string]bool {
		return flatten(map[string]any{"CloneSet": s.CloneSet(gates), "DaemonSet": s.DaemonSet(gates), "UnitedDeployment": s.UnitedDeployment(gates)})
	}
	before, got := of(NewSettings()), map[string][]string{}
	all := pflag.NewFlagSet("all", pflag.ContinueOnError)
	NewSettings().AddFlags(all)
	all.VisitAll(func(f *pflag.Flag) {
		s, flags := NewSettings(), pflag.NewFlagSet("one", pflag.ContinueOnError)
		s.AddFlags(flags)
		if err := flags.Set(f.Name, fmt.Sprint(f.DefValue != "true")); err != nil {
			t.Fatal(err)
		}
		for field, is := range of(s) {
			if is != before[field] {
				got[f.Name] = append(got[f.Name], field)
			}
		}
	})
	want := map[string][]string{
		"cloneset-scaling-exclude-preparing-delete": {"CloneSet.ExcludePreparingDelete"},
		"assign-pods-by-scheduler":                  {"DaemonSet.AssignDirectly"},
		"uniteddeployment-adaptive-scheduling":      {"UnitedDeployment.AdaptiveScheduling"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("PF-1: what flags switch (-want +got):\n%s", diff)
	}
}

func parse(t *testing.T, f features.Flags) *features.Gates {
	t.Helper()
	gates, err := f.Parse()
	if err != nil {
		t.Fatal(err)
	}
	return gates
}

// The gates of a release give the switches that the packages of the kinds say the release has. Beyond that, pods are made so that
// their containers start in order, since the program runs what starts them.
func TestRelease(t *testing.T) {
	for _, release := range []podwright.Release{podwright.Release14, podwright.Release19} {
		want := flatten(map[string]any{"CloneSet": cloneset.FeaturesOf(release), "StatefulSet": statefulset.FeaturesOf(release),
			"DaemonSet": daemonset.FeaturesOf(release), "UnitedDeployment": uniteddeployment.FeaturesOf(release), "Injection": injection.FeaturesOf(release),
			"SidecarSet":           sidecarset.FeaturesOf(release),
			"PodUnavailableBudget": podunavailablebudget.FeaturesOf(release)})
		want["CloneSet.LaunchPriority"], want["StatefulSet.LaunchPriority"] = true, true
		if diff := cmp.Diff(want, all(parse(t, features.Flags{Release: release}))); diff != "" {
			t.Errorf("PF-1: switches of release %s (-want +got):\n%s", release, diff)
		}
	}
}

// Each gate switches the fields that it is about, and every field but those that take more has a gate.
func TestGates(t *testing.T) {
	without := map[string]bool{ // with what else they take
		"CloneSet.ExcludePreparingDelete": true, "DaemonSet.AssignDirectly": true, // a flag: TestSettings
		"CloneSet.PreDownload": true, "StatefulSet.PreDownload": true, "DaemonSet.PreDownload": true, // jobs
	}
	want := map[features.Gate][]string{
		"CloneSetClaimTemplateHash":              {"CloneSet.ClaimTemplateHash"},
		"CloneSetKeepOrder":                      {"CloneSet.KeepOrder"},
		"CloneSetNormalOnceBound":                {"CloneSet.NormalOnceBound"},
		"CloneSetPartitionRollback":              {"CloneSet.PartitionRollback"},
		"CloneSetPauseWithoutSurge":              {"CloneSet.PauseWithoutSurge"},
		"CloneSetProgressReasons":                {"CloneSet.ProgressReasons"},
		"CloneSetShortHash":                      {"CloneSet.ShortHash"},
		"DaemonSetPartitionRoundsDown":           {"DaemonSet.PartitionRoundsDown"},
		"EnableSortSidecarContainerByName":       {"Injection.SortContainers"},
		"SidecarSetInitContainerDefaults":        {"Injection.InitContainerDefaults"},
		"SidecarSetInitContainerRecords":         {"Injection.InitContainerRecords"},
		"SidecarSetNativeSidecars":               {"Injection.NativeSidecars"},
		"InPlaceUpdateEnvFromMetadata":           {"CloneSet.NoEnvFromMetadata", "DaemonSet.NoEnvFromMetadata", "StatefulSet.NoEnvFromMetadata"},
		"InPlaceWorkloadVerticalScaling":         {"CloneSet.InPlaceResize", "DaemonSet.InPlaceResize", "StatefulSet.InPlaceResize"},
		"InPlacePodVerticalScaling":              {"PodUnavailableBudget.ResizesAlone"},
		"PodUnavailableBudgetAnnotatedTotal":     {"PodUnavailableBudget.AnnotatedTotal"},
		"PodUnavailableBudgetInconsistentMayGo":  {"PodUnavailableBudget.InconsistentMayGo"},
		"KruiseDaemon":                           {"CloneSet.NoEnvFromMetadata", "DaemonSet.NoEnvFromMetadata", "StatefulSet.NoEnvFromMetadata"},
		"PodIndexLabel":                          {"StatefulSet.NoPodIndexLabel"},
		"PodWebhook":                             {"CloneSet.LaunchPriority", "StatefulSet.LaunchPriority"},
		"PreDownloadSandboxConfig":               {"CloneSet.PreDownloadSandboxConfig", "DaemonSet.PreDownloadSandboxConfig", "StatefulSet.PreDownloadSandboxConfig"},
		"PreparingUpdateAsUpdate":                {"CloneSet.PreparingUpdateAsUpdate", "StatefulSet.PreparingUpdateAsUpdate"},
		"RecreatePodWhenChangeVCTInCloneSetGate": {"CloneSet.RecreateForClaims"},
		"SidecarSetPartitionRoundsUp":            {"SidecarSet.PartitionRoundsUp"},
		"SidecarSetReplacePatch":                 {"SidecarSet.ReplacePatch"},
		"SidecarSetUpgradable":                   {"SidecarSet.UpgradableCondition"},
		"StatefulSetAutoDeletePVC":               {"StatefulSet.NoAutoDeleteClaims"},
		"StatefulSetAutoResizePVCGate":           {"StatefulSet.ResizeClaims"},
		"StatefulSetCountClaims":                 {"StatefulSet.CountClaims"},
		"StatefulSetKeepClaimLabels":             {"StatefulSet.KeepClaimLabels"},
		"StatefulSetPartitionCountsPods":         {"StatefulSet.PartitionCountsPods"},
		"StatefulSetPreNormal":                   {"StatefulSet.PreNormal"},
		"StatefulSetRepeatedOrdinals":            {"StatefulSet.RepeatedOrdinals"},
		"StatefulSetSpecifiedDelete":             {"StatefulSet.SpecifiedDelete"},
		"StatefulSetStartOrdinal":                {"StatefulSet.StartOrdinal"},
		"StatefulSetUpdateUnavailable":           {"StatefulSet.UpdateUnavailable"},
		"UnitedDeploymentAdaptive":               {"UnitedDeployment.AdaptiveScheduling"},
		"UnitedDeploymentReservedLabels":         {"UnitedDeployment.ReservedLabels"},
		"UnitedDeploymentRevisionLabel":          {"UnitedDeployment.RevisionLabel"},
		"UnitedDeploymentSubsetStatuses":         {"UnitedDeployment.SubsetStatuses"},
		"UnitedDeploymentUpdatedCondition":       {"UnitedDeployment.UpdatedCondition"},
	}
	defaults := parse(t, features.Flags{})
	before := all(defaults)
	got := map[features.Gate][]string{}
	switched := map[string]bool{}
	for gate, spec := range defaults.All() {
		value := "=true"
		if spec.Default {
			value = "=false"
		}
		for field, is := range all(parse(t, features.Flags{Gates: string(gate) + value})) {
			if is != before[field] {
				got[gate], switched[field] = append(got[gate], field), true
			}
		}
		slices.Sort(got[gate])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("PF-1: what gates switch (-want +got):\n%s", diff)
	}
	for field := range before {
		if switched[field] == without[field] {
			t.Errorf("%s is switched by a gate: %t", field, switched[field])
		}
	}
}

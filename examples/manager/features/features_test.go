package features

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// defaults are the gates that are on when nothing is set.
var defaults = []Gate{
	DaemonWatchingPod, InPlaceUpdateEnvFromMetadata, KruiseDaemon, PodProbeMarkerGate, PodUnavailableBudgetDeleteGate,
	PodWebhook, ResourcesDeletionProtection, StatefulSetAutoDeletePVC, WorkloadSpread,
}

var beta = []Gate{DaemonWatchingPod, KruiseDaemon, PodWebhook}

func TestParse(t *testing.T) {
	cases := map[string]struct {
		text, customResources string
		want                  []Gate
		withoutEffect         []Gate
		forcedOff             []Gate
	}{
		"PF-1: defaults":                                             {want: defaults},
		"PF-1: blanks and empty items":                               {text: " , CloneSetShortHash = true ,", want: with(defaults, CloneSetShortHash)},
		"PF-1: off by name":                                          {text: "ResourcesDeletionProtection=false", want: without(defaults, ResourcesDeletionProtection)},
		"PF-1: the last of two values counts":                        {text: "TemplateNoDefaults=true,TemplateNoDefaults=false", want: defaults},
		"PF-1 quirk: AllAlpha=false turns off what is on by default": {text: "AllAlpha=false", want: beta},
		"PF-1 quirk: AllAlpha=true turns on every alpha gate":        {text: "AllAlpha=true", want: all()},
		"PF-1: a name overrides AllAlpha, in any order": {
			text: "CloneSetShortHash=false,AllAlpha=true", want: without(all(), CloneSetShortHash),
		},
		"PF-1 coupling: PodWebhook": {
			text: "AllAlpha=true,PodWebhook=false",
			want: without(all(), PodWebhook, KruisePodReadinessGate, ResourcesDeletionProtection, PodUnavailableBudgetDeleteGate,
				PodUnavailableBudgetUpdateGate, WorkloadSpread, SidecarSetPatchPodMetadataDefaultsAllowed),
		},
		"PF-1 coupling: KruiseDaemon": {
			text: "AllAlpha=true,KruiseDaemon=false",
			want: without(all(), KruiseDaemon, PreDownloadImageForInPlaceUpdate, PreDownloadImageForDaemonSetUpdate,
				DaemonWatchingPod, InPlaceUpdateEnvFromMetadata, PodProbeMarkerGate, SidecarTerminator),
		},
		"PF-1 coupling: overrides an explicit setting": {
			text:      "KruiseDaemon=false,InPlaceUpdateEnvFromMetadata=true",
			want:      without(defaults, KruiseDaemon, DaemonWatchingPod, InPlaceUpdateEnvFromMetadata, PodProbeMarkerGate),
			forcedOff: []Gate{InPlaceUpdateEnvFromMetadata},
		},
		"PF-1 coupling: AllBeta=false turns off both parents": {
			text: "AllBeta=false", want: []Gate{StatefulSetAutoDeletePVC},
		},
		"PF-1 legacy: kinds without SidecarSet": {
			customResources: "CloneSet,StatefulSet",
			want:            without(defaults, PodWebhook, ResourcesDeletionProtection, PodUnavailableBudgetDeleteGate, WorkloadSpread),
		},
		"PF-1 legacy: kinds with SidecarSet":            {customResources: "CloneSet, SidecarSet", want: defaults},
		"PF-1 legacy: a name overrides the legacy list": {customResources: "CloneSet", text: "PodWebhook=true", want: defaults},
		"a gate of a part that does not run is accepted and named": {
			text: "SidecarTerminator=true,PreDownloadImageForDaemonSetUpdate=true,CloneSetShortHash=true",
			want: with(defaults, SidecarTerminator, PreDownloadImageForDaemonSetUpdate, CloneSetShortHash), withoutEffect: []Gate{
				PreDownloadImageForDaemonSetUpdate, SidecarTerminator,
			},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			gates, err := Parse(c.text, c.customResources)
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
			if diff := cmp.Diff(c.withoutEffect, gates.WithoutEffect); diff != "" {
				t.Errorf("gates without effect (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.forcedOff, gates.ForcedOff); diff != "" {
				t.Errorf("gates forced off (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	cases := map[string]struct {
		text string
		want []string
	}{
		"an unknown name, with the known ones":  {"PodWebhooks=true", []string{`"PodWebhooks" is not a feature gate`, "AllAlpha", "CloneSetShortHash", "WorkloadSpread"}},
		"a name without a value":                {"CloneSetShortHash", []string{"CloneSetShortHash=true or CloneSetShortHash=false"}},
		"a value that is not a boolean":         {"CloneSetShortHash=on", []string{`"on" is neither true nor false`}},
		"several mistakes are reported at once": {"X=true,CloneSetShortHash=on", []string{`"X"`, `"on"`}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(c.text, "")
			if err == nil {
				t.Fatalf("Parse(%q) gives no error", c.text)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error lacks %q: %v", want, err)
				}
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"", "AllAlpha=true", "PodWebhook=false,KruiseDaemon=false", "a=b=c,,=", "CloneSetShortHash=T"} {
		f.Add(text, "CloneSet")
	}
	f.Fuzz(func(t *testing.T, text, customResources string) {
		gates, err := Parse(text, customResources)
		if err != nil {
			return
		}
		for needed, dependents := range coupled() {
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
	for gate := range known() {
		gates = append(gates, gate)
	}
	slices.Sort(gates)
	return gates
}

func with(gates []Gate, more ...Gate) []Gate { return append(slices.Clone(gates), more...) }

func without(gates []Gate, less ...Gate) []Gate {
	return slices.DeleteFunc(slices.Clone(gates), func(gate Gate) bool { return slices.Contains(less, gate) })
}

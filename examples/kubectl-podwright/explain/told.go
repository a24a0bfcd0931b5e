// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/heldup"
)

// Place is where the status of a kind says what holds an object up.
type Place struct {
	// In is the path to conditions or to a text, as the wire contract writes it: ".status.conditions". Empty: nowhere.
	In string
	// Not is why it says so nowhere; empty otherwise.
	Not string
}

// The paths of all kinds.
const (
	inConditions = ".status.conditions"
	inSubsets    = ".status.subsetStatuses[].conditions"
	inMessage    = ".status.message"
	inTags       = ".status.imageStatuses{}.tags[].message"
)

// Places has every kind of podwright. (KC-22)
var Places = map[schema.GroupKind]Place{
	{Group: "apps.kruise.io", Kind: "CloneSet"}:                 {In: inConditions},
	{Group: "apps.kruise.io", Kind: "StatefulSet"}:              {In: inConditions},
	{Group: "apps.kruise.io", Kind: "DaemonSet"}:                {In: inConditions},
	{Group: "apps.kruise.io", Kind: "UnitedDeployment"}:         {In: inConditions},
	{Group: "apps.kruise.io", Kind: "SidecarSet"}:               {In: inConditions},
	{Group: "apps.kruise.io", Kind: "BroadcastJob"}:             {In: inConditions},
	{Group: "apps.kruise.io", Kind: "AdvancedCronJob"}:          {Not: "it waits for its next time, which users asked for; what holds up a job stands in that"},
	{Group: "apps.kruise.io", Kind: "EphemeralJob"}:             {In: inConditions},
	{Group: "apps.kruise.io", Kind: "ContainerRecreateRequest"}: {In: inMessage},
	{Group: "apps.kruise.io", Kind: "PodProbeMarker"}:           {In: inConditions},
	{Group: "apps.kruise.io", Kind: "NodePodProbe"}:             {Not: "users do not write it; the PodProbeMarkers that it comes from say which pods have no result"},
	{Group: "apps.kruise.io", Kind: "ImagePullJob"}:             {In: inMessage},
	{Group: "apps.kruise.io", Kind: "NodeImage"}:                {In: inTags},
	{Group: "apps.kruise.io", Kind: "WorkloadSpread"}:           {In: inSubsets},
	{Group: "apps.kruise.io", Kind: "ResourceDistribution"}:     {In: inConditions},
	{Group: "apps.kruise.io", Kind: "PersistentPodState"}:       {In: inConditions},
	{Group: "policy.kruise.io", Kind: "PodUnavailableBudget"}:   {In: inConditions},
}

// Told lists what the status of an object says of what holds it up, in its words: nothing if it says nothing. Causes around it, such as
// a manager that is absent, come first. (KC-22)
func Told(s *Situation) []Blocker {
	all := lease(s)
	if _, says, _ := unstructured.NestedInt64(s.Object.Object, "status", "observedGeneration"); says && all == nil {
		all = notObserved(s)
	}
	all = append(all, deletion(s)...)
	for _, told := range held(s.Object.Object, Places[s.Object.GroupVersionKind().GroupKind()].In) {
		b := Blocker{Code: told.Reason, Why: told.Message, Ends: heldup.Of(rollout.Rule(told.Reason)).Ends, Since: told.Since.UTC().Format(time.RFC3339)}
		all = append(all, b)
	}
	return all
}

// held reads what stands at a path.
func held(object any, path string) (all []heldup.Told) {
	field, rest, more := strings.Cut(strings.TrimPrefix(path, "."), ".")
	name := strings.TrimRight(field, "[]{}")
	fields, _ := object.(map[string]any)
	value := fields[name]
	switch {
	case more && strings.HasSuffix(field, "[]"):
		items, _ := value.([]any)
		for _, item := range items {
			all = append(all, held(item, rest)...)
		}
	case more && strings.HasSuffix(field, "{}"):
		items, _ := value.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(items)) {
			all = append(all, held(items[key], rest)...)
		}
	case more:
		return held(value, rest)
	case name == "conditions":
		conditions, _ := value.([]any)
		for _, condition := range conditions {
			all = append(all, ofCondition(condition)...)
		}
	default:
		text, _ := value.(string)
		if _, after, found := strings.Cut(text, "; held up since "); found { // behind how far a job is
			text = "held up since " + after
		}
		if told := heldup.OfText(text); told != nil {
			all = append(all, *told)
		}
	}
	return all
}

// ofCondition reads a condition of any kind. Those without a message have it in the reason.
func ofCondition(condition any) []heldup.Told {
	fields, _ := condition.(map[string]any)
	text := func(name string) string { value, _ := fields[name].(string); return value }
	if text("type") != heldup.Condition || text("status") != "True" {
		return nil
	}
	reason, message, _ := strings.Cut(text("reason"), ": ")
	since, _ := time.Parse(time.RFC3339, text("lastTransitionTime"))
	return []heldup.Told{{Reason: reason, Message: cmp.Or(text("message"), message), Since: since}}
}

// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	availability "github.com/podwright/podwright/availability/v1alpha1"
	distribution "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/heldup"
	lifecycle "github.com/podwright/podwright/lifecycle/v1alpha1"
	sidecar "github.com/podwright/podwright/sidecar/v1alpha1"
	workloads "github.com/podwright/podwright/workloads/v1alpha1"
	workloadsv1beta1 "github.com/podwright/podwright/workloads/v1beta1"
)

// Place is the field of a kind's status that says what holds an object up.
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

// elsewhere has the kinds that say it elsewhere than in conditions, or nowhere. (KC-22)
var elsewhere = map[string]Place{
	"AdvancedCronJob":          {Not: "it waits for its next time, which users asked for; what holds up a job stands in that"},
	"ContainerRecreateRequest": {In: inMessage},
	"NodePodProbe":             {Not: "users do not write it; the PodProbeMarkers that it comes from say which pods have no result"},
	"ImageListPullJob":         {Not: "its ImagePullJobs say it; status.failedImageStatuses has those that cannot be created"},
	"ImagePullJob":             {In: inMessage},
	"NodeImage":                {In: inTags},
	"WorkloadSpread":           {In: inSubsets},
}

// Places has every kind of podwright. (KC-22)
var Places = sync.OnceValue(func() map[schema.GroupKind]Place {
	scheme, places := runtime.NewScheme(), map[schema.GroupKind]Place{}
	for _, add := range []func(*runtime.Scheme) error{
		workloads.AddToScheme, workloadsv1beta1.AddToScheme, distribution.AddToScheme, lifecycle.AddToScheme, sidecar.AddToScheme, availability.AddToScheme,
	} {
		utilruntime.Must(add(scheme))
	}
	for kind, of := range scheme.AllKnownTypes() {
		if _, object := of.FieldByName("ObjectMeta"); !object {
			continue // a list, or options of a request
		}
		place, other := elsewhere[kind.Kind]
		if !other {
			place.In = inConditions
		}
		places[kind.GroupKind()] = place
	}
	return places
})

// Told lists what the status of an object says of what holds it up, in its words: nothing if it says nothing. Causes around it, such as
// a manager that is absent, come first. (KC-22)
func Told(s *Situation) []Blocker {
	all := ManagerAbsent(s)
	if _, says, _ := unstructured.NestedInt64(s.Object.Object, "status", "observedGeneration"); says && all == nil {
		all = notObserved(s)
	}
	kind := s.Object.GroupVersionKind().GroupKind()
	all = append(withRunbook(kind, all), deletion(s)...)
	var told []Blocker
	for _, h := range held(s.Object.Object, Places()[kind].In) {
		told = append(told, Blocker{Code: h.Reason, Why: h.Message, Ends: heldup.Of(rollout.Rule(h.Reason)).Ends, Since: h.Since.UTC().Format(time.RFC3339)})
	}
	return append(all, withRunbook(kind, told)...)
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

// SPDX-License-Identifier: Apache-2.0

package podstate

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/podplan"
)

// MaxSize is how many bytes a PersistentPodState may have in the storage of the API server, which keeps
// nothing of more than 1.5 MiB. (PPS-10)
const MaxSize = 1 << 20

// What an object has beside its pods' states. That is conditions, counters, and the names of fields that
// the API server notes for each writer.
const restSize = 16 << 10

// limit takes out of the states those for which there is no room, and returns their names. Those
// that stand in the object come first, then those of the lowest ordinals: so what is kept stays. (PPS-10)
func limit(s *v1alpha1.PersistentPodState, states map[string]v1alpha1.PodState) (refused []string) {
	total := 0
	for name, state := range states {
		total += sizeOf(name, state)
	}
	room := MaxSize - restSize
	if total > room/2 { // the object itself counts only if it may decide
		room -= sizeOfObject(s)
	}
	if total <= room {
		return nil
	}
	names := slices.Collect(maps.Keys(states))
	slices.SortFunc(names, func(a, b string) int { return rank(s, a).compare(rank(s, b)) })
	used := 0
	for _, name := range names {
		if used += sizeOf(name, states[name]); used > room {
			refused = append(refused, name)
			delete(states, name)
		}
	}
	slices.Sort(refused)
	return refused
}

// sizeOfObject is the size of an object without the states of pods.
func sizeOfObject(s *v1alpha1.PersistentPodState) int {
	rest := *s
	rest.Status, rest.ManagedFields = v1alpha1.PersistentPodStateStatus{}, nil
	data, err := json.Marshal(&rest)
	if err != nil {
		return restSize // it came as JSON
	}
	return len(data)
}

// sizeOf is what the state of a pod takes at most. It stands in the status. The API server names all of its
// fields and keys once more, in the list of fields by their writers.
func sizeOf(pod string, state v1alpha1.PodState) int {
	const (
		each   = len(`"":{},`) + len(`"f:":{".":{},},`)
		field  = len(`"":,`) + len(`"f:":{},`)
		object = len(`"":{},`) + len(`"f:":{".":{},},`)
		key    = len(`"":"",`) + len(`"f:":{},`)
	)
	size := each + 2*jsonLength(pod) + field + 2*len("nodeName") + jsonLength(state.NodeName) + len(`""`)
	for name, values := range map[string]map[string]string{"nodeTopologyLabels": state.NodeTopologyLabels, "annotations": state.Annotations} {
		if len(values) == 0 {
			continue
		}
		size += object + 2*len(name)
		for k, v := range values {
			size += key + 2*jsonLength(k) + jsonLength(v)
		}
	}
	return size
}

// jsonLength is how many bytes a string takes at most between the quotes of JSON.
func jsonLength(s string) int {
	n := len(s)
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' || c >= 0x7f {
			n += len(`\u0000`) - 1
		}
	}
	return n
}

// order is the order in which states are kept.
type order struct {
	isNew   bool
	ordinal int32
	name    string
}

func rank(s *v1alpha1.PersistentPodState, pod string) order {
	_, found := s.Status.PodStates[pod]
	_, ordinal, _ := podplan.SplitOrdinal(pod)
	return order{!found, ordinal, pod}
}

func (o order) compare(other order) int {
	switch {
	case o.isNew != other.isNew && other.isNew:
		return -1
	case o.isNew != other.isNew:
		return 1
	}
	return cmp.Or(cmp.Compare(o.ordinal, other.ordinal), cmp.Compare(o.name, other.name))
}

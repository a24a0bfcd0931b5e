// SPDX-License-Identifier: Apache-2.0

package podstate

import (
	"cmp"
	"encoding/json"
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
	total, kept := 0, make([]order, 0, len(states))
	for name, state := range states {
		size := sizeOf(name, state)
		total += size
		kept = append(kept, order{name: name, size: size})
	}
	room := MaxSize - restSize
	if total > room/2 { // the object itself counts only if it may decide
		room -= sizeOfObject(s)
	}
	if total <= room {
		return nil
	}
	for i := range kept {
		kept[i].rank(s)
	}
	slices.SortFunc(kept, order.compare)
	used := 0
	for i := range kept {
		if used += kept[i].size; used > room {
			refused = append(refused, kept[i].name)
			delete(states, kept[i].name)
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
	add := func(name string, values map[string]string) {
		if len(values) == 0 {
			return
		}
		size += object + 2*len(name)
		for k, v := range values {
			size += key + 2*jsonLength(k) + jsonLength(v)
		}
	}
	add("nodeTopologyLabels", state.NodeTopologyLabels)
	add("annotations", state.Annotations)
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

// order says which states are kept first, and what each takes.
type order struct {
	isNew   bool
	ordinal int32
	name    string
	size    int
}

// rank reads the rest from the name.
func (o *order) rank(s *v1alpha1.PersistentPodState) {
	_, found := s.Status.PodStates[o.name]
	_, o.ordinal, _ = podplan.SplitOrdinal(o.name)
	o.isNew = !found
}

func (o order) compare(other order) int {
	switch {
	case o.isNew != other.isNew && other.isNew:
		return -1
	case o.isNew != other.isNew:
		return 1
	}
	if o.ordinal != other.ordinal {
		return cmp.Compare(o.ordinal, other.ordinal)
	}
	return cmp.Compare(o.name, other.name)
}

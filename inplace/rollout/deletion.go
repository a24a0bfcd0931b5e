// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// DeletionOptions tunes [SortForDeletion]. The zero value is fit for use.
type DeletionOptions struct {
	// Available says whether a pod counts as available; it is called once for
	// each pod. Nil does not tell pods apart by it.
	Available func(*corev1.Pod) bool
	// Constraints are those of the pod template. Without any, pods that share
	// a node go before those that are alone on theirs.
	Constraints []corev1.TopologySpreadConstraint
	// Topology returns the value of a node's label, "" if there is none or
	// the node is not known. It is called once for each pod and constraint. May
	// be nil, and then only the constraints on the host name count.
	Topology func(nodeName, key string) string
}

// SortForDeletion returns the pods in the order in which they are to be
// deleted: those first that would be missed least. What decides, in this order:
//
//   - no node before a node; the phase Pending before Unknown before Running
//   - unavailable, then not Ready
//   - the lower deletion cost (annotation controller.kubernetes.io/pod-deletion-cost)
//   - the more crowded place: the node, or what Constraints spread pods over
//   - Ready for the shorter time, more restarts, younger, and at last the name
//
// The places are judged by the given pods alone: give the pods of one
// revision, all of them that may be deleted. The pods and the list stay as they
// are. (CS-25)
func SortForDeletion(pods []*corev1.Pod, o DeletionOptions) []*corev1.Pod {
	return inOrder(pods, deletionOrder(pods, func(i int) bool { return o.Available != nil && o.Available(pods[i]) }, o))
}

// SortForDeletionOf is SortForDeletion for what has a pod each. available takes the
// place of o.Available.
func SortForDeletionOf[T any](all []T, podOf func(T) *corev1.Pod, available func(T) bool, o DeletionOptions) []T {
	return inOrder(all, deletionOrder(podsOf(all, podOf), func(i int) bool { return available(all[i]) }, o))
}

// deletionOrder is the order in which pods are to be deleted, as places in the list.
func deletionOrder(pods []*corev1.Pod, available func(i int) bool, o DeletionOptions) []int32 {
	keys := newSortKeys(pods, true)
	for i, k := range keys {
		if available(i) {
			k.stage |= stageAvailable
		}
	}
	sortKeys(keys)
	r := newRanking(keys)
	r.rank(o)
	order := make([]int32, len(keys))
	for i := range r.order {
		order[i] = keys[r.order[i].at].index
	}
	return order
}

// deletionCost returns the value of the annotation; 0 if there is none or
// if it is no int32 in its plain form.
func deletionCost(pod *corev1.Pod) int32 {
	value, ok := pod.Annotations[corev1.PodDeletionCost]
	if !ok || strings.HasPrefix(value, "+") || strings.HasPrefix(value, "0") {
		return 0
	}
	cost, err := strconv.ParseInt(value, 10, 32)
	if err != nil {
		return 0
	}
	return int32(cost)
}

// ranking sorts pods by how crowded their places are.
type ranking struct {
	keys  []*sortKey // sorted, as if no pod had a neighbour
	order []ranked   // the present order
}

// ranked is what pods with neighbours are compared by.
type ranked struct {
	rank  float64 // how much better it is to lose this pod than others near it
	group int32   // of pods of one stage and deletion cost; the smaller goes first
	at    int32   // the place among the keys; the smaller goes first
}

func newRanking(keys []*sortKey) ranking {
	r := ranking{keys: keys, order: make([]ranked, len(keys))}
	group := int32(0)
	for i, k := range keys {
		if i > 0 && (k.stage != keys[i-1].stage || k.deletionCost != keys[i-1].deletionCost) {
			group++
		}
		r.order[i] = ranked{group: group, at: int32(i)}
	}
	return r
}

func (r ranking) sort() {
	slices.SortFunc(r.order, func(a, b ranked) int {
		switch {
		case a.group != b.group:
			return cmp.Compare(a.group, b.group)
		case a.rank != b.rank:
			return cmp.Compare(b.rank, a.rank)
		}
		return cmp.Compare(a.at, b.at)
	})
}

// rank brings those to the front that are in crowded places, and like others otherwise.
func (r ranking) rank(o DeletionOptions) {
	byNode, spread := r.newCrowding(), r.newCrowding()
	byNode.add(func(k *sortKey) string { return k.node }, unweighted)
	for _, c := range o.Constraints {
		if c.TopologyKey == corev1.LabelHostname {
			spread.add(o.place(c.TopologyKey), spreadWeight)
		}
	}
	// Places larger than a node lose first the pods of their crowded nodes.
	byNode.apply()
	if len(o.Constraints) == 0 {
		return
	}
	for _, c := range o.Constraints {
		if c.TopologyKey != corev1.LabelHostname {
			spread.add(o.place(c.TopologyKey), spreadWeight)
		}
	}
	spread.apply()
}

// place returns a function from a pod to the value of a topology key, "" if
// that is not known.
func (o DeletionOptions) place(key string) func(*sortKey) string {
	return func(k *sortKey) string {
		value := ""
		if o.Topology != nil && k.node != "" {
			value = o.Topology(k.node, key)
		}
		if value == "" && key == corev1.LabelHostname {
			return k.node
		}
		return value
	}
}

func unweighted(int) float64 { return 1 }

// spreadWeight evens out constraints over few and over many places.
func spreadWeight(places int) float64 { return math.Log(float64(places + 2)) }

// crowding ranks pods by how many of their neighbours outlast them.
type crowding struct {
	ranking
	ranks []float64 // by place among the keys
}

func (r ranking) newCrowding() crowding { return crowding{r, make([]float64, len(r.keys))} }

// add ranks the m pods of each place m-1, m-2, ..., 0 in their present order,
// times a weight that depends on the number of places.
func (c crowding) add(place func(*sortKey) string, weight func(places int) float64) {
	ids := make(map[string]int32)
	var left []int32 // pods not ranked yet, by the id of their place
	places := make([]int32, len(c.order))
	for i := range c.order {
		name := place(c.keys[c.order[i].at])
		if name == "" {
			places[i] = -1
			continue
		}
		id, known := ids[name]
		if !known {
			id = int32(len(left))
			ids[name] = id
			left = append(left, 0)
		}
		places[i] = id
		left[id]++
	}
	w := weight(len(left))
	for i, id := range places {
		if id >= 0 {
			left[id]--
			c.ranks[c.order[i].at] += float64(left[id]) * w
		}
	}
}

// apply sorts by these ranks, and by no others.
func (c crowding) apply() {
	for i := range c.order {
		c.order[i].rank = c.ranks[c.order[i].at]
	}
	c.sort()
}

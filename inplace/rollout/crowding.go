// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"cmp"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// ranking sorts pods by how crowded their places are.
type ranking struct {
	keys  []*sortKey // sorted, as if no pod had a neighbour
	order []ranked   // the present order
	begin []int32    // the place at which each group begins
}

// ranked is what pods with neighbours are compared by.
type ranked struct {
	rank  float64 // how much better it is to lose this pod than others near it
	group int32   // of pods of one stage and deletion cost; the smaller goes first
	at    int32   // the place among the keys; the smaller goes first
}

func newRanking(keys []*sortKey) ranking {
	r := ranking{keys: keys, order: make([]ranked, len(keys))}
	for i, k := range keys {
		if i == 0 || k.stage != keys[i-1].stage || k.deletionCost != keys[i-1].deletionCost {
			r.begin = append(r.begin, int32(i))
		}
		r.order[i] = ranked{group: int32(len(r.begin) - 1), at: int32(i)}
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
	spread := crowding{r, make([]float64, len(r.keys))}
	for _, c := range o.Constraints {
		if c.TopologyKey == corev1.LabelHostname {
			spread.add(o.place(c.TopologyKey))
		}
	}
	// Places larger than a node lose first the pods of their crowded nodes.
	r.sortByNode()
	if len(o.Constraints) == 0 {
		return
	}
	for _, c := range o.Constraints {
		if c.TopologyKey != corev1.LabelHostname {
			spread.add(o.place(c.TopologyKey))
		}
	}
	spread.apply()
}

// sortByNode sorts the pods of each group by how many pods of their nodes outlast them, the most first. It is the first to
// sort. It counts instead of comparing: these are whole numbers, and less than there are pods.
func (r ranking) sortByNode() {
	outlasting, _ := r.outlasting(func(k *sortKey) string { return k.node })
	from := make([]int32, len(r.order)+1) // how many go before those of a number
	for _, n := range outlasting {
		from[n]++
	}
	before := int32(0)
	for n, pods := range slices.Backward(from) {
		from[n], before = before, before+pods
	}
	sorted := make([]int32, len(r.order))
	for i, n := range outlasting {
		sorted[from[n]] = int32(i)
		from[n]++
	}
	old, next := slices.Clone(r.order), slices.Clone(r.begin)
	for _, i := range sorted {
		group := old[i].group
		r.order[next[group]] = old[i]
		next[group]++
	}
}

// outlasting returns of each pod, in the present order, how many pods of its place come behind it, and how many places there
// are. It is 0 for a pod whose place is not known.
func (r ranking) outlasting(place func(*sortKey) string) (numbers []int32, places int) {
	ids := make(map[string]int32)
	var left []int32 // pods not passed yet, by the id of their place
	numbers = make([]int32, len(r.order))
	for i := range r.order {
		name := place(r.keys[r.order[i].at])
		if name == "" {
			numbers[i] = -1
			continue
		}
		id, known := ids[name]
		if !known {
			id = int32(len(left))
			ids[name] = id
			left = append(left, 0)
		}
		numbers[i] = id
		left[id]++
	}
	for i, id := range numbers {
		if id < 0 {
			numbers[i] = 0
			continue
		}
		left[id]--
		numbers[i] = left[id]
	}
	return numbers, len(left)
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

// crowding ranks pods by how many of their neighbours outlast them, by several kinds of places.
type crowding struct {
	ranking
	ranks []float64 // by place among the keys
}

// add ranks the m pods of each place m-1, m-2, ..., 0 in their present order. It multiplies the ranks by a weight that evens out
// constraints over few and over many places.
func (c crowding) add(place func(*sortKey) string) {
	numbers, places := c.outlasting(place)
	weight := math.Log(float64(places + 2))
	for i, n := range numbers {
		c.ranks[c.order[i].at] += float64(n) * weight
	}
}

// apply sorts by these ranks, and by no others.
func (c crowding) apply() {
	for i := range c.order {
		c.order[i].rank = c.ranks[c.order[i].at]
	}
	c.sort()
}

// SPDX-License-Identifier: Apache-2.0

package podstate

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/nodefit"
)

// Nodes are the nodes of a cluster. NewNodes and NodesOf make them. They are for one goroutine.
type Nodes struct {
	get  func(name string) *corev1.Node
	list func() []*corev1.Node
	// by is an index by label: by key, and then by value. It is made once all nodes have been looked at so often, by
	// key, as it costs to make it.
	by    map[string]map[string][]*corev1.Node
	looks map[string]int
}

// NewNodes returns nodes, which it never changes.
func NewNodes(nodes []*corev1.Node) *Nodes {
	var byName map[string]*corev1.Node
	get := func(name string) *corev1.Node {
		if byName == nil {
			byName = make(map[string]*corev1.Node, len(nodes))
			for _, node := range nodes {
				byName[node.Name] = node
			}
		}
		return byName[name]
	}
	return NodesOf(get, func() []*corev1.Node { return nodes })
}

// NodesOf returns nodes of a cache: one by its name, nil if there is none, and all of them. All are asked for only if a
// pod does not go back to the very node on which it ran.
func NodesOf(get func(name string) *corev1.Node, list func() []*corev1.Node) *Nodes {
	return &Nodes{get: get, list: list, by: map[string]map[string][]*corev1.Node{}, looks: map[string]int{}}
}

// labels are those of a node; false if there is no such node.
func (n *Nodes) labels(name string) (map[string]string, bool) {
	node := n.get(name)
	if node == nil {
		return nil, false
	}
	return node.Labels, true
}

// indexAfter is how many looks at all nodes cost as much as an index.
const indexAfter = 20

// with are the nodes with a label, and perhaps others.
func (n *Nodes) with(key, value string) []*corev1.Node {
	index, found := n.by[key]
	if n.looks[key]++; !found && n.looks[key] <= indexAfter {
		return n.list()
	}
	if !found {
		index = map[string][]*corev1.Node{}
		for _, node := range n.list() {
			if value, found := node.Labels[key]; found {
				index[value] = append(index[value], node)
			}
		}
		n.by[key] = index
	}
	return index[value]
}

// any tells whether there is a node with all of the labels, one at least, that is also as asked for; nil
// asks for nothing. The one that is likely is looked at first; empty for none.
func (n *Nodes) any(likely string, labels map[string]string, asked func(*corev1.Node) bool) bool {
	key, value := lowest(labels)
	fits := func(node *corev1.Node) bool {
		got, found := node.Labels[key] // of most nodes it tells already
		return found && got == value && contains(node.Labels, labels) && (asked == nil || asked(node))
	}
	if node := n.get(likely); node != nil && fits(node) {
		return true
	}
	return slices.ContainsFunc(n.with(key, value), fits)
}

// lowest is the first label, by its key.
func lowest(labels map[string]string) (key, value string) {
	first := true
	for k, v := range labels {
		if first || k < key {
			key, value, first = k, v, false
		}
	}
	return key, value
}

// contains tells whether all of the labels are among others.
func contains(all, labels map[string]string) bool {
	for key, value := range labels {
		if got, found := all[key]; !found || got != value {
			return false
		}
	}
	return true
}

// asksFor returns whether a node is as a pod asks for by itself: by its node selector and its required node
// affinity. Whether there is room for it on the node, and whether the node takes new pods, does not count.
func asksFor(spec *corev1.PodSpec) func(*corev1.Node) bool {
	checker := nodefit.New(spec)
	return func(node *corev1.Node) bool {
		switch checker.Check(node) {
		case nodefit.NodeName, nodefit.NodeAffinity, nodefit.InvalidAffinity:
			return false
		}
		return true
	}
}

// Concerns tells whether a PersistentPodState depends on a node, in its old or its new state. Pods ran on it, or in a
// required topology that it is in.
func Concerns(s *v1alpha1.PersistentPodState, node *corev1.Node) bool {
	keys := requiredKeys(s)
	for _, state := range s.Status.PodStates {
		if state.NodeName == node.Name || shares(&state, keys, node.Labels) {
			return true
		}
	}
	return false
}

// shares tells whether a state has values of keys, and a node has them all.
func shares(state *v1alpha1.PodState, keys []string, labels map[string]string) (any bool) {
	for _, key := range keys {
		if value, found := state.NodeTopologyLabels[key]; found {
			if got, has := labels[key]; !has || got != value {
				return false
			}
			any = true
		}
	}
	return any
}

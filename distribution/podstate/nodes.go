// SPDX-License-Identifier: Apache-2.0

package podstate

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/nodefit"
)

// Nodes are the nodes of a cluster. NewNodes makes them. They are for one goroutine.
type Nodes struct {
	all    []*corev1.Node
	byName map[string]*corev1.Node
	// by is an index by label: by key, and then by value.
	by map[string]map[string][]*corev1.Node
}

// NewNodes returns nodes, which it never changes.
func NewNodes(nodes []*corev1.Node) *Nodes {
	return &Nodes{all: nodes, by: map[string]map[string][]*corev1.Node{}}
}

// labels are those of a node; false where there is no such node.
func (n *Nodes) labels(name string) (map[string]string, bool) {
	if n.byName == nil {
		n.byName = make(map[string]*corev1.Node, len(n.all))
		for _, node := range n.all {
			n.byName[node.Name] = node
		}
	}
	node, found := n.byName[name]
	if !found {
		return nil, false
	}
	return node.Labels, true
}

// with are the nodes with a label.
func (n *Nodes) with(key, value string) []*corev1.Node {
	index, found := n.by[key]
	if !found {
		index = map[string][]*corev1.Node{}
		for _, node := range n.all {
			if value, found := node.Labels[key]; found {
				index[value] = append(index[value], node)
			}
		}
		n.by[key] = index
	}
	return index[value]
}

// any tells whether there is a node with all of the labels, which are not none, that is as asked for too;
// nil asks for nothing.
func (n *Nodes) any(labels map[string]string, asked func(*corev1.Node) bool) bool {
	key := slices.Min(slices.Collect(maps.Keys(labels)))
	for _, node := range n.with(key, labels[key]) {
		if contains(node.Labels, labels) && (asked == nil || asked(node)) {
			return true
		}
	}
	return false
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

// Concerns tells whether a node, as it is or was, is one of those that a PersistentPodState depends on: pods ran on it, or in a
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

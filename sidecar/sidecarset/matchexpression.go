// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// mostLabels is how many labels an expression tells apart: the API server evaluates it for
// every pod.
const mostLabels = 500

// MatchExpression returns an expression in the Common Expression Language of matchConditions in
// webhook configurations, which need Kubernetes 1.28. It is true of all pods that one of the
// SidecarSets may match, and of some others. These have a label that it asks for, in its namespace.
// With it, pods that no SidecarSet is about can be created while no webhook answers. It is false if
// there are no SidecarSets. It is true if they ask for more than 500 labels in all, or for no label
// with a certain value.
//
// It has to be registered anew when SidecarSets come, change or go. A pod that is created
// until then is not injected into, and is reported as missed. A webhook with further steps
// needs their expressions too, joined by ||. (SCS-W9)
func MatchExpression(all []*v1alpha1.SidecarSet) string {
	type scope struct{ namespace, key string }
	values, n := map[scope]sets.Set[string]{}, 0
	for _, set := range all {
		if set == nil || set.Spec.InjectionStrategy.Paused {
			continue
		}
		for _, label := range caches.NeededLabels(set.Spec.Selector) {
			key, value, known := strings.Cut(label, "=")
			at := scope{set.Spec.Namespace, key}
			if !known {
				at.key = ""
			}
			if values[at] == nil {
				values[at] = sets.New[string]()
			}
			values[at].Insert(value)
			if n++; n > mostLabels {
				return "true"
			}
		}
	}
	scopes := slices.SortedFunc(maps.Keys(values), func(a, b scope) int { return cmp.Or(cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.key, b.key)) })
	var terms []string
	for _, at := range scopes {
		term := "true"
		if at.key != "" {
			const labels = "object.metadata.labels"
			key := strconv.Quote(at.key)
			term = "has(" + labels + ") && " + key + " in " + labels + " && " + labels + "[" + key + "] in [" + quoted(values[at]) + "]"
		}
		if at.namespace != "" {
			term = "request.namespace == " + strconv.Quote(at.namespace) + " && " + term
		} else if at.key == "" {
			return "true"
		}
		terms = append(terms, "("+term+")")
	}
	if len(terms) == 0 {
		return "false"
	}
	return strings.Join(terms, " || ")
}

func quoted(values sets.Set[string]) string {
	var all []string
	for _, value := range sets.List(values) {
		all = append(all, strconv.Quote(value))
	}
	return strings.Join(all, ", ")
}

// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Name finds the name of a pod by the way it is shown.
func (w *Cluster) Name(alias string) string {
	for name, a := range w.alias {
		if a == alias {
			return name
		}
	}
	if w.GeneratedNames || w.Pod(alias) == nil {
		w.T.Fatalf("there is no pod %s", alias)
	}
	return alias
}

// Alias returns the way in which a pod is shown.
func (w *Cluster) Alias(name string) string {
	if !w.GeneratedNames {
		return name
	}
	if a, ok := w.alias[name]; ok {
		return a
	}
	return "new"
}

// aliases shows pods in the given order; none are "new pods".
func (w *Cluster) aliases(pods []*corev1.Pod) string {
	var names []string
	for _, p := range pods {
		names = append(names, w.Alias(p.Name))
	}
	if len(names) == 0 {
		return "new pods"
	}
	return strings.Join(names, " ")
}

// Unalias makes text about pods readable.
func (w *Cluster) Unalias(text string) string {
	for _, name := range slices.Sorted(maps.Keys(w.alias)) {
		text = strings.ReplaceAll(text, name, w.alias[name])
	}
	return text
}

// SPDX-License-Identifier: Apache-2.0

package podpatch

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// The fields of a metadata patch that change finalizers: those to add, the order
// of all that the patch knows of, and those to remove.
const (
	finalizers        = "finalizers"
	finalizersOrder   = "$setElementOrder/finalizers"
	finalizersRemoved = "$deleteFromPrimitiveList/finalizers"
)

// metadata returns the metadata that the pod does not have yet.
func (p *Patch) metadata(pod *corev1.Pod) (map[string]any, error) {
	meta := map[string]any{}
	if p.Metadata != nil {
		var general struct {
			Metadata map[string]any `json:"metadata"`
		}
		if err := json.Unmarshal(p.Metadata, &general); err != nil {
			return nil, fmt.Errorf("metadata patch of pod %s/%s is not JSON: %w", pod.Namespace, pod.Name, err)
		}
		if general.Metadata != nil {
			meta = general.Metadata
		}
	}
	mergeStrings(meta, "labels", p.Labels, pod.Labels)
	mergeStrings(meta, "annotations", p.Annotations, pod.Annotations)
	p.keepFinalizers(meta)
	mergeFinalizers(meta, p.missingFinalizers(pod))
	if owners := p.owners(pod); len(owners) > 0 {
		meta["ownerReferences"] = owners
	}
	return meta, nil
}

func (p *Patch) missingFinalizers(pod *corev1.Pod) []any {
	var missing []any
	for _, f := range p.AddFinalizers {
		if !slices.Contains(pod.Finalizers, f) {
			missing = append(missing, f)
		}
	}
	return missing
}

// keepFinalizers takes those of AddFinalizers off the list of those that meta removes.
func (p *Patch) keepFinalizers(meta map[string]any) {
	list, ok := meta[finalizersRemoved].([]any)
	if !ok || len(p.AddFinalizers) == 0 {
		return
	}
	list = slices.DeleteFunc(list, func(f any) bool {
		name, _ := f.(string)
		return slices.Contains(p.AddFinalizers, name)
	})
	if meta[finalizersRemoved] = list; len(list) == 0 {
		delete(meta, finalizersRemoved)
	}
}

// owners lists the changes of owner references in the form of a patch.
func (p *Patch) owners(pod *corev1.Pod) (changes []any) {
	if p.RemoveOwner != "" && ownedBy(pod, p.RemoveOwner) {
		changes = append(changes, map[string]any{"$patch": "delete", "uid": p.RemoveOwner})
	}
	if p.AddOwner != nil && !p.hasOwner(pod) {
		changes = append(changes, p.AddOwner)
	}
	return changes
}

// hasOwner tells whether a pod has the owner that the patch adds, as its controller if it is to be that.
func (p *Patch) hasOwner(pod *corev1.Pod) bool {
	controls := func(o metav1.OwnerReference) bool { return o.Controller != nil && *o.Controller }
	return slices.ContainsFunc(pod.OwnerReferences, func(o metav1.OwnerReference) bool {
		return o.UID == p.AddOwner.UID && (controls(o) || !controls(*p.AddOwner))
	})
}

func ownedBy(pod *corev1.Pod, owner types.UID) bool {
	return slices.ContainsFunc(pod.OwnerReferences, func(ref metav1.OwnerReference) bool {
		return ref.UID == owner
	})
}

// mergeFinalizers adds finalizers to those that meta adds already. If meta
// gives the order of the list, it must name them too, and the API server refuses
// an addition in another order.
func mergeFinalizers(meta map[string]any, add []any) {
	if len(add) == 0 {
		return
	}
	list, _ := meta[finalizers].([]any)
	list = appendMissing(list, add)
	if order, ok := meta[finalizersOrder].([]any); ok {
		order = appendMissing(order, add)
		slices.SortStableFunc(list, func(a, b any) int { return slices.Index(order, a) - slices.Index(order, b) })
		meta[finalizersOrder] = order
	}
	meta[finalizers] = list
}

func appendMissing(list, add []any) []any {
	for _, f := range add {
		if !slices.Contains(list, f) {
			list = append(list, f)
		}
	}
	return list
}

// mergeStrings puts the wanted values over those in meta[field] and drops what
// the pod has already.
func mergeStrings(meta map[string]any, field string, wanted map[string]*string, have map[string]string) {
	given, found := meta[field]
	if !found && len(wanted) == 0 {
		return
	}
	out, directive := spellOut(given, found, have)
	for key, value := range wanted {
		if value == nil {
			out[key] = nil
		} else {
			out[key] = *value
		}
	}
	if !directive {
		maps.DeleteFunc(out, func(key string, value any) bool {
			old, found := have[key]
			return found && value == old || !found && value == nil
		})
	}
	if len(out) > 0 {
		meta[field] = out
	} else {
		delete(meta, field)
	}
}

// spellOut copies the labels or annotations of a merge patch. A null removes
// the whole map: it is written out as the removal of each key, so that other
// values can be put over it. The second result tells whether the patch holds a
// directive, under which a value counts even if the pod has it already.
func spellOut(given any, found bool, have map[string]string) (out map[string]any, directive bool) {
	out = map[string]any{}
	if found && given == nil {
		for key := range have {
			out[key] = nil
		}
	}
	values, _ := given.(map[string]any)
	for key, value := range values {
		out[key] = value
		directive = directive || strings.HasPrefix(key, "$")
	}
	return out, directive
}

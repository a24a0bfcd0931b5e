// SPDX-License-Identifier: Apache-2.0

package podpatch

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Apply returns a copy of the pod as it will be after the patch. It is meant
// for tests and for tools that show a plan. It does what an API server does with
// the requests of [Patch.Writes], but for the resourceVersion. The pod that was
// given is not changed.
//
// It fails when Writes does, and when Metadata holds more than labels,
// annotations and finalizers.
func (p *Patch) Apply(pod *corev1.Pod) (*corev1.Pod, error) {
	meta, err := p.metadata(pod)
	if err != nil {
		return nil, err
	}
	if len(p.owners(pod)) > 0 {
		delete(meta, "ownerReferences") // ownersAfter knows them
	}
	out := pod.DeepCopy()
	if err := applyMetadata(&out.ObjectMeta, meta); err != nil {
		return nil, fmt.Errorf("apply a patch to pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	out.OwnerReferences = p.ownersAfter(pod, out.OwnerReferences)
	for i := range out.Spec.Containers {
		if c := &out.Spec.Containers[i]; p.replaces(c) {
			c.Image = p.Images[c.Name]
		}
		if c := &out.Spec.Containers[i]; p.resizes(c) != nil {
			c.Resources.Limits = with(c.Resources.Limits, p.Resources[c.Name].Limits)
			c.Resources.Requests = with(c.Resources.Requests, p.Resources[c.Name].Requests)
		}
	}
	for i := range out.Spec.InitContainers {
		if c := &out.Spec.InitContainers[i]; p.replacesNative(c) {
			c.Image = p.Images[c.Name]
		}
	}
	out.Status.Conditions = p.conditionsAfter(pod, out.Status.Conditions)
	return out, nil
}

// applyMetadata changes metadata as a strategic-merge patch says.
func applyMetadata(meta *metav1.ObjectMeta, patch map[string]any) (err error) {
	if meta.Labels, err = mergedStrings(meta.Labels, patch, "labels"); err != nil {
		return err
	}
	if meta.Annotations, err = mergedStrings(meta.Annotations, patch, "annotations"); err != nil {
		return err
	}
	if meta.Finalizers, err = mergedFinalizers(meta.Finalizers, patch); err != nil {
		return err
	}
	for _, field := range slices.Sorted(maps.Keys(patch)) {
		switch field {
		case "labels", "annotations", finalizers, finalizersOrder, finalizersRemoved:
		default:
			return fmt.Errorf("the metadata patch holds %s, want labels, annotations and finalizers only", field)
		}
	}
	return nil
}

// mergedStrings merges the labels or annotations of a patch into those of a pod.
func mergedStrings(have map[string]string, patch map[string]any, field string) (map[string]string, error) {
	given, found := patch[field]
	if !found || given == nil {
		return have, nil // metadata has spelt out what null removes
	}
	changes, ok := given.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("metadata.%s of the patch is a %T, want an object", field, given)
	}
	out := maps.Clone(have)
	if out == nil {
		out = map[string]string{}
	}
	for _, key := range slices.Sorted(maps.Keys(changes)) {
		switch value := changes[key].(type) {
		case nil:
			delete(out, key)
		case string:
			if strings.HasPrefix(key, "$") {
				return nil, fmt.Errorf("metadata.%s of the patch holds the directive %s, want keys and values only", field, key)
			}
			out[key] = value
		default:
			return nil, fmt.Errorf("metadata.%s[%s] of the patch is a %T, want a string or null", field, key, value)
		}
	}
	return out, nil
}

// mergedFinalizers merges the finalizers of a patch into those of a pod. If
// the patch gives no order, that of what it adds counts.
func mergedFinalizers(have []string, patch map[string]any) ([]string, error) {
	if given, found := patch[finalizers]; found && given == nil {
		patch, have = maps.Clone(patch), nil // null removes all
		delete(patch, finalizers)
	}
	add, err := stringList(patch, finalizers)
	if err != nil {
		return nil, err
	}
	removed, err := stringList(patch, finalizersRemoved)
	if err != nil {
		return nil, err
	}
	order, err := stringList(patch, finalizersOrder)
	if err != nil {
		return nil, err
	}
	if order == nil {
		order = add
	}
	out := slices.Clone(have)
	for _, f := range add {
		if !slices.Contains(order, f) {
			return nil, fmt.Errorf("metadata.%s of the patch lacks %s, which it adds", finalizersOrder, f)
		}
		if !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	out = inOrder(out, have, order, func(f string) string { return f })
	return slices.DeleteFunc(out, func(f string) bool { return slices.Contains(removed, f) }), nil
}

// stringList returns a list of a metadata patch; nil if the field is absent.
func stringList(patch map[string]any, field string) (out []string, err error) {
	given, found := patch[field]
	list, ok := given.([]any)
	if found && !ok {
		return nil, fmt.Errorf("metadata.%s of the patch is a %T, want a list", field, given)
	}
	for _, item := range list {
		f, ok := item.(string)
		if !ok {
			return nil, fmt.Errorf("metadata.%s of the patch holds a %T, want strings", field, item)
		}
		out = append(out, f)
	}
	return out, nil
}

// ownersAfter returns the owner references that the patch leaves: one that it
// adds comes first, unless one of its UID stands there already.
func (p *Patch) ownersAfter(pod *corev1.Pod, have []metav1.OwnerReference) []metav1.OwnerReference {
	if p.RemoveOwner != "" && ownedBy(pod, p.RemoveOwner) {
		have = slices.DeleteFunc(have, func(ref metav1.OwnerReference) bool { return ref.UID == p.RemoveOwner })
	}
	if p.AddOwner == nil || p.hasOwner(pod) {
		return have
	}
	i := slices.IndexFunc(have, func(ref metav1.OwnerReference) bool { return ref.UID == p.AddOwner.UID })
	if i < 0 {
		return slices.Insert(have, 0, *p.AddOwner.DeepCopy())
	}
	have[i] = *p.AddOwner.DeepCopy()
	return have
}

// conditionsAfter returns the conditions that the patch leaves. Fields that it
// does not know of stay.
func (p *Patch) conditionsAfter(pod *corev1.Pod, have []corev1.PodCondition) []corev1.PodCondition {
	typeOf := func(c corev1.PodCondition) corev1.PodConditionType { return c.Type }
	out := slices.Clone(have)
	var order []corev1.PodConditionType
	for _, c := range p.conditions(pod) {
		order = append(order, c.Type)
		i := slices.IndexFunc(out, func(old corev1.PodCondition) bool { return old.Type == c.Type })
		if i < 0 {
			i, out = len(out), append(out, corev1.PodCondition{Type: c.Type})
		}
		out[i].Status, out[i].Reason, out[i].Message = c.Status, orEmpty(c.Reason), orEmpty(c.Message)
		out[i].LastTransitionTime = c.LastTransitionTime.Rfc3339Copy()
		if c.LastProbeTime != nil {
			out[i].LastProbeTime = c.LastProbeTime.Rfc3339Copy()
		}
	}
	before := make([]corev1.PodConditionType, len(have))
	for i, c := range have {
		before[i] = c.Type
	}
	return inOrder(out, before, order, typeOf)
}

// inOrder sorts a merged list as an API server does. Elements that the patch names come
// in the order of the patch, the others in the order that they had. Of one of each, the
// one that was before the other goes first. A new one goes before all that were not
// named.
func inOrder[T any, K comparable](merged []T, before, named []K, key func(T) K) []T {
	place := func(list []K, element T) int { return slices.Index(list, key(element)) }
	var others, ours []T
	for _, element := range merged {
		if place(named, element) < 0 {
			others = append(others, element)
		} else {
			ours = append(ours, element)
		}
	}
	slices.SortStableFunc(ours, func(a, b T) int { return place(named, a) - place(named, b) })
	out := make([]T, 0, len(merged))
	for len(others) > 0 && len(ours) > 0 {
		if at := place(before, ours[0]); at >= 0 && place(before, others[0]) < at {
			out, others = append(out, others[0]), others[1:]
		} else {
			out, ours = append(out, ours[0]), ours[1:]
		}
	}
	return append(append(out, ours...), others...)
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

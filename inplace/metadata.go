// SPDX-License-Identifier: Apache-2.0

package inplace

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/podstate"
)

// metadataMap tells labels from annotations in a reference to pod metadata.
type metadataMap int

const (
	labelMap metadataMap = iota
	annotationMap
)

// metadataKey is one label or annotation of a pod.
type metadataKey struct {
	in  metadataMap
	key string
}

// addMetadata sorts the changes of metadata into those that a container's
// environment follows, and the others (IP-7 to IP-10).
func (u *Update) addMetadata(from, to *corev1.PodTemplateSpec, o CalculateOptions) error {
	from, to = unowned(from), unowned(to)
	old := metav1.ObjectMeta{Labels: from.Labels, Annotations: from.Annotations, Finalizers: from.Finalizers}
	wanted := metav1.ObjectMeta{
		Labels: maps.Clone(to.Labels), Annotations: maps.Clone(to.Annotations), Finalizers: to.Finalizers,
	}
	if !o.NoEnvFromMetadata {
		for i := range to.Spec.Containers {
			u.addReferences(&to.Spec.Containers[i], from, to)
		}
		for _, ref := range u.RefMetadata {
			restore(wanted.Labels, old.Labels, ref.Labels)
			restore(wanted.Annotations, old.Annotations, ref.Annotations)
		}
	}
	patch, err := metadataPatch(old, wanted)
	if err != nil {
		return err
	}
	u.MetadataPatch = patch
	return nil
}

// unowned returns a template without the labels and annotations that controllers own in each pod: pods do not get
// these from it (IP-9).
func unowned(template *corev1.PodTemplateSpec) *corev1.PodTemplateSpec {
	if len(podstate.Owned(template.Labels))+len(podstate.Owned(template.Annotations)) == 0 {
		return template
	}
	without := *template
	without.Labels, without.Annotations = podstate.Unowned(template.Labels), podstate.Unowned(template.Annotations)
	return &without
}

// addReferences records the changed labels and annotations that the
// environment of a container of the new template refers to.
func (u *Update) addReferences(c *corev1.Container, from, to *corev1.PodTemplateSpec) {
	for i := range c.Env {
		ref, ok := envReference(&c.Env[i])
		if !ok {
			continue
		}
		before, after := from.Labels, to.Labels
		if ref.in == annotationMap {
			before, after = from.Annotations, to.Annotations
		}
		if value, changed := setOrReplaced(before, after, ref.key); changed {
			u.EnvFromMetadata = true
			if u.RefMetadata == nil {
				u.RefMetadata = map[string]metav1.ObjectMeta{}
			}
			meta := u.RefMetadata[c.Name]
			setMetadata(&meta, ref, value)
			u.RefMetadata[c.Name] = meta
		}
	}
}

// setOrReplaced returns the new value of a key that was added to a map or got
// another value. A key that comes with the map itself does not count, nor does
// one that goes away (IP-8).
func setOrReplaced(before, after map[string]string, key string) (string, bool) {
	value, ok := after[key]
	if !ok || len(before) == 0 {
		return "", false
	}
	old, had := before[key]
	return value, !had || old != value
}

func setMetadata(meta *metav1.ObjectMeta, k metadataKey, value string) {
	m := &meta.Labels
	if k.in == annotationMap {
		m = &meta.Annotations
	}
	if *m == nil {
		*m = map[string]string{}
	}
	(*m)[k.key] = value
}

// envReference returns the label or annotation that an environment variable
// takes its value from.
func envReference(env *corev1.EnvVar) (metadataKey, bool) {
	if env.Value != "" || env.ValueFrom == nil || env.ValueFrom.FieldRef == nil {
		return metadataKey{}, false
	}
	path := env.ValueFrom.FieldRef.FieldPath
	if key, ok := subscript(path, "metadata.labels"); ok {
		return metadataKey{labelMap, key}, true
	}
	if key, ok := subscript(path, "metadata.annotations"); ok {
		return metadataKey{annotationMap, key}, true
	}
	return metadataKey{}, false
}

// subscript returns k of the path field['k'].
func subscript(path, field string) (string, bool) {
	rest, ok := strings.CutPrefix(path, field+"['")
	if !ok {
		return "", false
	}
	return strings.CutSuffix(rest, "']")
}

// restore undoes in wanted the changes that are made elsewhere.
func restore(wanted, old, elsewhere map[string]string) {
	for key := range elsewhere {
		if value, had := old[key]; had {
			wanted[key] = value
		} else {
			delete(wanted, key)
		}
	}
}

// metadataPatch returns the strategic-merge patch between the metadata of two
// templates, nil if they are the same (IP-9). Every key and finalizer is
// named by itself, for a pod has others that are none of the template's.
func metadataPatch(from, to metav1.ObjectMeta) ([]byte, error) {
	meta := map[string]any{}
	if changed := changedKeys(from.Labels, to.Labels); len(changed) > 0 {
		meta["labels"] = changed
	}
	if changed := changedKeys(from.Annotations, to.Annotations); len(changed) > 0 {
		meta["annotations"] = changed
	}
	if removed := without(from.Finalizers, to.Finalizers); len(removed) > 0 {
		meta["$deleteFromPrimitiveList/finalizers"] = removed
	}
	if added := without(to.Finalizers, from.Finalizers); len(added) > 0 {
		meta["finalizers"] = added
		meta["$setElementOrder/finalizers"] = to.Finalizers
	}
	if len(meta) == 0 {
		return nil, nil
	}
	patch, err := json.Marshal(map[string]any{"metadata": meta})
	if err != nil {
		return nil, fmt.Errorf("encode the metadata patch: %w", err)
	}
	return patch, nil
}

// changedKeys returns the new values of the keys that differ, nil for one that
// goes away.
func changedKeys(from, to map[string]string) map[string]*string {
	changed := map[string]*string{}
	for key := range from {
		if _, stays := to[key]; !stays {
			changed[key] = nil
		}
	}
	for key, value := range to {
		if old, had := from[key]; !had || old != value {
			changed[key] = &value
		}
	}
	return changed
}

// without returns the elements of a list that are not in the other one.
func without(list, other []string) []string {
	var left []string
	for _, element := range list {
		if !slices.Contains(other, element) {
			left = append(left, element)
		}
	}
	return left
}

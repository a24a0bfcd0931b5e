// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// template is what the copies are made from. parseTemplate makes one.
type template struct {
	// kind is Secret or ConfigMap, name that of the copies.
	kind, name string
	// hash is what copies have as v1alpha1.ResourceHashCodeAnnotation.
	hash string

	meta    metav1.ObjectMeta
	content content
}

// The kinds that are copied.
const (
	kindSecret    = "Secret"
	kindConfigMap = "ConfigMap"
)

// errUnsupported is the error of templates of other kinds, in OpenKruise's words.
var errUnsupported = errors.New("unknown or unsupported resource GroupKind, only support [Secret ConfigMap]")

// parseTemplate reads the field spec.resource. The error says what is wrong with it.
func parseTemplate(raw []byte) (*template, error) {
	if len(raw) == 0 {
		return nil, errors.New("empty resource is not allowed")
	}
	var meta metav1.TypeMeta
	if err := json.Unmarshal(raw, &meta); err != nil {
		return nil, fmt.Errorf("it is no manifest: %w", err)
	}
	hash := sha256.Sum256(raw)
	t := &template{kind: meta.Kind, hash: hex.EncodeToString(hash[:])}
	switch {
	case meta.APIVersion != "v1":
		return nil, errUnsupported
	case meta.Kind == kindSecret:
		secret := &corev1.Secret{}
		if err := json.Unmarshal(raw, secret); err != nil {
			return nil, fmt.Errorf("it is no Secret: %w", err)
		}
		t.meta, t.content = secret.ObjectMeta, ofSecret(secret)
	case meta.Kind == kindConfigMap:
		configMap := &corev1.ConfigMap{}
		if err := json.Unmarshal(raw, configMap); err != nil {
			return nil, fmt.Errorf("it is no ConfigMap: %w", err)
		}
		t.meta, t.content = configMap.ObjectMeta, ofConfigMap(configMap)
	default:
		return nil, errUnsupported
	}
	t.name = t.meta.Name
	return t, nil
}

// object returns an object of a namespace as the template has it. (RD-6)
func (t *template) object(namespace string, of *v1alpha1.ResourceDistribution) Object {
	meta := metav1.ObjectMeta{
		Namespace: namespace, Name: t.name, Labels: maps.Clone(t.meta.Labels), Annotations: maps.Clone(t.meta.Annotations),
		Finalizers: slices.Clone(t.meta.Finalizers), OwnerReferences: slices.Clone(t.meta.OwnerReferences),
	}
	metav1.SetMetaDataLabel(&meta, v1alpha1.ResourceCopyLabel, "true")
	metav1.SetMetaDataAnnotation(&meta, v1alpha1.ResourceDistributedFromAnnotation, of.Name)
	metav1.SetMetaDataAnnotation(&meta, v1alpha1.ResourceHashCodeAnnotation, t.hash)
	if !slices.ContainsFunc(meta.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == of.UID }) {
		meta.OwnerReferences = append(meta.OwnerReferences, *metav1.NewControllerRef(of, v1alpha1.SchemeGroupVersion.WithKind(Kind)))
	}
	if t.kind == kindSecret {
		return &corev1.Secret{ObjectMeta: meta, Type: t.content.Type, Data: t.content.Data, Immutable: t.content.Immutable}
	}
	return &corev1.ConfigMap{ObjectMeta: meta, Data: t.content.Text, BinaryData: t.content.Data, Immutable: t.content.Immutable}
}

// updated returns what a copy is to be: as the template has it, with what others have
// added to its metadata. (RD-8)
func (t *template) updated(c *Copy, of *v1alpha1.ResourceDistribution) Object {
	object := t.object(c.Namespace, of)
	object.SetUID(c.UID)
	object.SetResourceVersion(c.ResourceVersion)
	object.SetLabels(under(object.GetLabels(), c.Labels))
	object.SetAnnotations(under(object.GetAnnotations(), c.Annotations))
	finalizers := object.GetFinalizers()
	for _, finalizer := range c.Finalizers {
		if !slices.Contains(finalizers, finalizer) {
			finalizers = append(finalizers, finalizer)
		}
	}
	object.SetFinalizers(finalizers)
	return object
}

// under returns the first strings, and of the second those whose keys they lack.
func under(first, second map[string]string) map[string]string {
	all := maps.Clone(second)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, first)
	return all
}

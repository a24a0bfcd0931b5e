// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// Object is a Secret or a ConfigMap.
type Object interface {
	runtime.Object
	metav1.Object
}

// Copy is what a plan reads of a Secret or ConfigMap: not what is in it, only whether that
// is what is in the template.
type Copy struct {
	metav1.ObjectMeta
	// Kind is Secret or ConfigMap.
	Kind string

	fingerprint string
	// kind of a Secret, and whether nothing in it can be changed: then it is replaced.
	secretType corev1.SecretType
	immutable  bool
}

// CopyOf returns what a plan reads of an object; nil if it is neither a Secret nor a
// ConfigMap. The metadata are shared with it.
func CopyOf(object any) *Copy {
	switch object := object.(type) {
	case *corev1.Secret:
		return &Copy{ObjectMeta: object.ObjectMeta, Kind: kindSecret, fingerprint: fingerprintOf(object.Data, func() content { return ofSecret(object) }),
			secretType: object.Type, immutable: isTrue(object.Immutable)}
	case *corev1.ConfigMap:
		return &Copy{ObjectMeta: object.ObjectMeta, Kind: kindConfigMap, fingerprint: fingerprintOf(object.BinaryData, func() content { return ofConfigMap(object) }),
			immutable: isTrue(object.Immutable)}
	}
	return nil
}

func isTrue(b *bool) bool { return b != nil && *b }

// onlyTrue is nil for false, which means the same.
func onlyTrue(b *bool) *bool {
	if isTrue(b) {
		return b
	}
	return nil
}

// content is what is in a Secret or ConfigMap: all but its metadata.
type content struct {
	Type      corev1.SecretType `json:"type,omitempty"`
	Data      map[string][]byte `json:"data,omitempty"`
	Text      map[string]string `json:"text,omitempty"`
	Immutable *bool             `json:"immutable,omitempty"`
}

// ofSecret is the content of a Secret as the API server stores it.
func ofSecret(s *corev1.Secret) content {
	c := content{Type: s.Type, Data: s.Data, Immutable: onlyTrue(s.Immutable)}
	if c.Type == "" {
		c.Type = corev1.SecretTypeOpaque
	}
	if len(s.StringData) > 0 {
		c.Data = maps.Clone(s.Data)
		if c.Data == nil {
			c.Data = map[string][]byte{}
		}
		for key, value := range s.StringData {
			c.Data[key] = []byte(value)
		}
	}
	return c
}

func ofConfigMap(m *corev1.ConfigMap) content {
	return content{Data: m.BinaryData, Text: m.Data, Immutable: onlyTrue(m.Immutable)}
}

// fingerprint is equal for equal contents, whatever their order.
func (c content) fingerprint() string {
	encoded, err := json.Marshal(c)
	if err != nil {
		panic(fmt.Sprintf("maps of strings and bytes cannot be encoded: %v", err))
	}
	sum := sha256.Sum256(encoded)
	return string(sum[:])
}

// trimmed is the key, which no Secret and no ConfigMap can have, under which a trimmed
// one holds the fingerprint of its content.
const trimmed = ""

func fingerprintOf(data map[string][]byte, of func() content) string {
	if fingerprint, is := data[trimmed]; is {
		return string(fingerprint)
	}
	return of().fingerprint()
}

// trim is a transform for informers of Secrets and ConfigMaps: it drops what is in them,
// and keeps a fingerprint. A cache of copies then neither holds secrets nor costs more than their
// metadata. Other objects stay as they are. The error is always nil.
func trim(object any) (any, error) {
	switch o := object.(type) {
	case *corev1.Secret:
		fingerprint := CopyOf(o).fingerprint
		o.ManagedFields, o.StringData, o.Data = nil, nil, map[string][]byte{trimmed: []byte(fingerprint)}
	case *corev1.ConfigMap:
		fingerprint := CopyOf(o).fingerprint
		o.ManagedFields, o.Data, o.BinaryData = nil, nil, map[string][]byte{trimmed: []byte(fingerprint)}
	}
	return object, nil
}

// copyOf tells whether an object is a copy of a ResourceDistribution, as its controller
// says by name. One that was created anew keeps what it finds. (RD-7)
func copyOf(object metav1.Object, distribution string) bool {
	return ownerOf(object) == distribution
}

// ownerOf is the name of the ResourceDistribution that controls an object; empty for none.
func ownerOf(object metav1.Object) string {
	owner := metav1.GetControllerOfNoCopy(object)
	if owner == nil || owner.Kind != Kind || !strings.HasPrefix(owner.APIVersion, v1alpha1.GroupName+"/") {
		return ""
	}
	return owner.Name
}

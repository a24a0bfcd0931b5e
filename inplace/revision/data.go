// SPDX-License-Identifier: Apache-2.0

package revision

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/podwright/podwright/inplace/internal/stablejson"
)

// Encode encodes a value as compact JSON, as the data of a revision and the hashes of
// kinds that have their own want it. The bytes are the same whatever release of Go built the
// program. The keys of maps are sorted, the fields of structs stay in their order. The
// error is that of encoding/json.
func Encode(v any) ([]byte, error) { return stablejson.Marshal(v) }

// Data returns the data of a revision for a pod template (CS-CR1). The same
// template always gives the same bytes. A nil template is an error.
func Data(template *corev1.PodTemplateSpec) ([]byte, error) {
	if template == nil {
		return nil, errors.New("revision data needs a pod template, got nil")
	}
	encoded, err := stablejson.Marshal(template)
	if err != nil {
		return nil, fmt.Errorf("encode the pod template: %w", err)
	}
	var tree map[string]any
	if err := utiljson.Unmarshal(encoded, &tree); err != nil {
		return nil, fmt.Errorf("decode the pod template just encoded: %w", err)
	}
	asKubernetes122(tree)
	tree["$patch"] = "replace"
	data, err := stablejson.Marshal(map[string]any{"spec": map[string]any{"template": tree}})
	if err != nil {
		return nil, fmt.Errorf("encode revision data: %w", err)
	}
	return data, nil
}

// asKubernetes122 undoes what encoders of Kubernetes have changed since 1.22 in
// how they write the zero values of fields that a pod template holds.
func asKubernetes122(template map[string]any) {
	nullCreationTimestamp(template)
	spec, _ := template["spec"].(map[string]any)
	for volume := range objects(spec["volumes"]) {
		ephemeral, _ := volume["ephemeral"].(map[string]any)
		if claim, ok := ephemeral["volumeClaimTemplate"].(map[string]any); ok {
			nullCreationTimestamp(claim)
		}
	}
	for alias := range objects(spec["hostAliases"]) {
		if alias["ip"] == "" {
			delete(alias, "ip")
		}
	}
}

// nullCreationTimestamp writes the zero creation time, which is left out since 1.34.
func nullCreationTimestamp(object map[string]any) {
	meta, ok := object["metadata"].(map[string]any)
	if !ok {
		meta = map[string]any{}
		object["metadata"] = meta
	}
	if _, ok := meta["creationTimestamp"]; !ok {
		meta["creationTimestamp"] = nil
	}
}

// objects yields the objects of a JSON list.
func objects(list any) func(yield func(map[string]any) bool) {
	return func(yield func(map[string]any) bool) {
		items, _ := list.([]any)
		for _, item := range items {
			if object, ok := item.(map[string]any); ok && !yield(object) {
				return
			}
		}
	}
}

// Template returns the pod template in the data of a revision. Fields that
// this version of the Kubernetes API does not know are dropped. Data that is
// not JSON, or holds no spec.template, is an error.
func Template(data []byte) (*corev1.PodTemplateSpec, error) {
	var document struct {
		Spec struct {
			Template *corev1.PodTemplateSpec `json:"template"`
		} `json:"spec"`
	}
	if len(data) == 0 {
		return nil, errors.New("revision data is empty, want {\"spec\":{\"template\":...}}")
	}
	if err := utiljson.Unmarshal(data, &document); err != nil {
		return nil, fmt.Errorf("revision data is not a pod template: %w", err)
	}
	if document.Spec.Template == nil {
		return nil, errors.New("revision data has no spec.template")
	}
	return document.Spec.Template, nil
}

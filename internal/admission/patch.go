// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/utils/ptr"
)

// Patched allows the request, changed. It answers with a JSON patch (RFC 6902). The patch
// does to the original, the raw object of the request, what was done to its decoded form.
// T is the Go type that the original was decoded into.
//
// What was not changed stays as it was written. That holds if encoding the Go type would
// drop it (a field that is unknown to T) or add it (a zero value without omitempty). In a
// list, elements are followed by their name. If nothing was changed, there is no patch.
//
// It refuses the request (400) if the original is no JSON object of type T.
func Patched[T any](original []byte, changed *T) *admissionv1.AdmissionResponse {
	patch, err := createPatch(original, changed)
	if err != nil {
		return Errored(err)
	}
	if patch == nil {
		return Allowed()
	}
	return &admissionv1.AdmissionResponse{Allowed: true, Patch: patch, PatchType: ptr.To(admissionv1.PatchTypeJSONPatch)}
}

// createPatch returns nil if nothing was changed.
func createPatch[T any](original []byte, changed *T) ([]byte, error) {
	original = TameQuantities(original)
	decoded := new(T)
	if err := json.Unmarshal(original, decoded); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("object: want a %T as JSON: %v", *decoded, err))
	}
	var raw map[string]any
	if err := json.Unmarshal(original, &raw); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("object: want a JSON object: %v", err))
	}
	before, err := tree(decoded)
	if err != nil {
		return nil, err
	}
	after, err := tree(changed)
	if err != nil {
		return nil, err
	}
	operations := diff(nil, "", raw, carryOver(raw, before, after))
	if len(operations) == 0 {
		return nil, nil
	}
	return json.Marshal(operations)
}

// tree is the JSON of a value as maps, slices and scalars.
func tree(value any) (any, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encoding a %T: %w", value, err)
	}
	var out any
	if err := json.Unmarshal(data, &out); err != nil {
		return nil, fmt.Errorf("decoding an encoded %T: %w", value, err)
	}
	return out, nil
}

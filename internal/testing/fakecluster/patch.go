// SPDX-License-Identifier: Apache-2.0

package fakecluster

import (
	"encoding/json"
	"errors"
	"fmt"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// applyPatch is the type of a patch that is a configuration.
const applyPatch = string(types.ApplyYAMLPatchType)

// patch changes an object, or its status. Another UID in the patch is refused
// as invalid, as the real server does, another resourceVersion as a conflict.
func (s *Server) patch(r *storage, req *Request) (any, error) {
	if req.contentType == applyPatch {
		return s.applyConfiguration(r, req)
	}
	current, err := r.get(req)
	if err != nil {
		return nil, err
	}
	fields, err := patched(types.PatchType(req.contentType), current.Object, req.Body, r.Type)
	if err != nil {
		return nil, badRequest(fmt.Errorf("patch: %w", err))
	}
	wanted, err := r.known(&unstructured.Unstructured{Object: fields})
	if err != nil {
		return nil, badRequest(err)
	}
	if wanted.GetName() != current.GetName() || wanted.GetNamespace() != current.GetNamespace() {
		return nil, badRequest(fmt.Errorf("a patch cannot change the name or namespace of %s", req.Name))
	}
	return s.update(r, req, current, wanted)
}

// patched returns what a patch makes of an object, which stays unchanged. Without an empty object of its Go type it takes no
// strategic-merge patches.
func patched(kind types.PatchType, object map[string]any, data []byte, empty func() any) (map[string]any, error) {
	if kind == types.JSONPatchType {
		return operated(object, data)
	}
	var patch map[string]any
	if err := decode(data, &patch); err != nil {
		return nil, err
	}
	switch {
	case kind == types.MergePatchType:
		return merge(runtime.DeepCopyJSON(object), patch), nil
	case kind == types.StrategicMergePatchType && empty == nil:
		return nil, errors.New("custom resources take no strategic-merge patches")
	case kind == types.StrategicMergePatchType:
		return strategicpatch.StrategicMergeMapPatch(runtime.DeepCopyJSON(object), patch, empty())
	}
	return nil, fmt.Errorf("fakecluster does not take %s", kind)
}

// merge applies a JSON merge patch (RFC 7386) to an object.
func merge(object, patch map[string]any) map[string]any {
	if object == nil {
		object = map[string]any{}
	}
	for key, value := range patch {
		switch value := value.(type) {
		case nil:
			delete(object, key)
		case map[string]any:
			within, _ := object[key].(map[string]any)
			object[key] = merge(within, value)
		default:
			object[key] = value
		}
	}
	return object
}

func operated(object map[string]any, patch []byte) (fields map[string]any, err error) {
	operations, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	if data, err = operations.Apply(data); err != nil {
		return nil, err
	}
	return fields, decode(data, &fields)
}

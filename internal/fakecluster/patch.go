// SPDX-License-Identifier: Apache-2.0

package fakecluster

import (
	"encoding/json"
	"errors"
	"fmt"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// patch changes an object, or its status. Another UID in the patch is refused
// as invalid, as the real server does, another resourceVersion as a conflict.
func (s *Server) patch(r *storage, req *Request) (any, error) {
	current, err := r.get(req)
	if err != nil {
		return nil, err
	}
	before, err := json.Marshal(current)
	if err != nil {
		return nil, err
	}
	data, err := r.apply(types.PatchType(req.contentType), before, req.Body)
	if err != nil {
		return nil, badRequest(fmt.Errorf("patch: %w", err))
	}
	wanted := &unstructured.Unstructured{}
	if err := decode(data, &wanted.Object); err != nil {
		return nil, badRequest(err)
	}
	if wanted, err = r.known(wanted); err != nil {
		return nil, badRequest(err)
	}
	if wanted.GetName() != current.GetName() || wanted.GetNamespace() != current.GetNamespace() {
		return nil, badRequest(fmt.Errorf("a patch cannot change the name or namespace of %s", req.Name))
	}
	return s.update(r, req, current, wanted)
}

func (r *storage) apply(kind types.PatchType, object, patch []byte) ([]byte, error) {
	switch kind {
	case types.MergePatchType:
		return jsonpatch.MergePatch(object, patch)
	case types.JSONPatchType:
		operations, err := jsonpatch.DecodePatch(patch)
		if err != nil {
			return nil, err
		}
		return operations.Apply(object)
	case types.StrategicMergePatchType:
		if r.Type == nil {
			return nil, errors.New("custom resources take no strategic-merge patches")
		}
		return strategicpatch.StrategicMergePatch(object, patch, r.Type())
	default:
		return nil, fmt.Errorf("fakecluster does not take %s", kind)
	}
}

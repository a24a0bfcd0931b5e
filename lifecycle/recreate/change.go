// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Change is what to change about the metadata of a request. The zero value
// changes nothing.
type Change struct {
	// Annotations holds the values to set.
	Annotations map[string]string
	// AddFinalizer adds, and RemoveFinalizer removes, the finalizer
	// v1alpha1.ContainerRecreateRequestUnreadyAcquiredFinalizer.
	AddFinalizer, RemoveFinalizer bool
	// Deactivate removes the label by which node agents find the request.
	Deactivate bool
}

func (c *Change) empty() bool {
	return len(c.Annotations) == 0 && !c.AddFinalizer && !c.RemoveFinalizer && !c.Deactivate
}

func (c *Change) annotate(key, value string) {
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	c.Annotations[key] = value
}

// patch is the change as a JSON merge patch, which hits no other request of the
// same name. If it replaces the whole list of finalizers, or begins the
// unready step, the API server refuses it unless the request is at the version.
// Everything else can be repeated, and must not fail because a node agent has
// written meanwhile.
func (c *Change) patch(request *v1alpha1.ContainerRecreateRequest, version string) ([]byte, error) {
	metadata := map[string]any{"uid": request.UID}
	if len(c.Annotations) > 0 {
		metadata["annotations"] = c.Annotations
	}
	if c.Deactivate {
		metadata["labels"] = map[string]any{v1alpha1.ContainerRecreateRequestActiveLabel: nil}
	}
	if c.AddFinalizer || c.RemoveFinalizer {
		metadata["finalizers"] = c.finalizers(request.Finalizers)
	}
	_, acquired := c.Annotations[v1alpha1.ContainerRecreateRequestUnreadyAcquiredAnnotation]
	if acquired || c.AddFinalizer || c.RemoveFinalizer {
		metadata["resourceVersion"] = version
	}
	data, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return nil, fmt.Errorf("encode a patch of ContainerRecreateRequest %s: %w", request.Name, err)
	}
	return data, nil
}

// finalizers returns the list that the request shall have; those of others stay.
func (c *Change) finalizers(have []string) []string {
	const own = v1alpha1.ContainerRecreateRequestUnreadyAcquiredFinalizer
	others := []string{} // never null
	for _, f := range have {
		if f != own {
			others = append(others, f)
		}
	}
	if c.AddFinalizer {
		return append(slices.Clone(others), own)
	}
	return others
}

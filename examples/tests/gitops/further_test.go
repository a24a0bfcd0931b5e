// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"io/fs"
	"slices"
	"testing"

	customizations "github.com/argoproj/argo-cd/v3/resource_customizations"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/podwright/podwright/availability"
	"github.com/podwright/podwright/distribution"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/sidecar"
)

// Kinds of other areas than that of workloads are shown as current once their status is about the newest spec, whatever holds them up.
// Argo CD has no check of them, and shows nothing.
func TestFurtherKinds(t *testing.T) {
	for _, crd := range slices.Concat(availability.CRDs(), distribution.CRDs(), lifecycle.CRDs(), sidecar.CRDs()) {
		group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
		kind, found, err := unstructured.NestedString(crd.Object, "spec", "names", "kind")
		if !found || err != nil {
			t.Fatalf("%s: %v", crd.GetName(), err)
		}
		object := func(observed int64) map[string]any {
			return map[string]any{"apiVersion": group + "/v1alpha1", "kind": kind, "metadata": map[string]any{"name": "web", "generation": int64(2)},
				"status": map[string]any{"observedGeneration": observed, "conditions": []any{
					map[string]any{"type": "HeldUp", "status": "True", "reason": "PodsMissing", "message": "1 of 2 pods are there"}}}}
		}
		if before, after := current(t, object(1)), current(t, object(2)); before != "InProgress" || after != "Current" {
			t.Errorf("%s: with an old status %s, with a new one %s", kind, before, after)
		}
		if _, err := fs.Stat(customizations.Embedded, group+"/"+kind+"/health.lua"); err == nil {
			t.Errorf("Argo CD has a check of %s by now: test it, and say so in the comment of the package", kind)
		}
	}
}

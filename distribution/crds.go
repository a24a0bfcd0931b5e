// SPDX-License-Identifier: Apache-2.0

package distribution

import (
	"embed"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/podwright/podwright/internal/manifests"
)

//go:embed crds/*.yaml
var crdFiles embed.FS

// CRDs returns the CustomResourceDefinitions (apiextensions.k8s.io/v1) of the
// distribution kinds, one object a kind, sorted by name. They are ready to be
// applied to a cluster, in any order. Every call returns new objects, which the
// caller may change.
//
// They hold the API server to the rules that a manifest must keep, so that a
// wrong one is refused even if no webhook runs.
//
// The version in which objects are stored is v1alpha1. For a cluster that stores v1beta1, as OpenKruise 1.9
// does for kinds of images, let ServeV1beta1 and then StoreV1beta1 of package conversion change the definitions.
func CRDs() []*unstructured.Unstructured { return manifests.MustReadCRDs(crdFiles) }

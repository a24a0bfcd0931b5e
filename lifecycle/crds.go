// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"embed"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/podwright/podwright/internal/manifests"
)

//go:embed crds/*.yaml
var crdFiles embed.FS

// CRDs returns the CustomResourceDefinitions (apiextensions.k8s.io/v1) of the
// lifecycle kinds, one object a kind, sorted by name. They are ready to be
// applied to a cluster, in any order. Every call returns new objects, which the
// caller may change.
//
// They hold the API server to the rules that a manifest must keep, so that a
// wrong one is refused even if no webhook runs.
func CRDs() []*unstructured.Unstructured { return manifests.MustReadCRDs(crdFiles) }

package distribution

import (
	"embed"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/podwright/podwright/internal/crdfiles"
)

//go:embed crds/*.yaml
var crdFiles embed.FS

// CRDs returns the CustomResourceDefinitions (apiextensions.k8s.io/v1) of the
// distribution kinds, one object a kind, sorted by name. They are ready to be
// applied to a cluster, in any order. Every call returns new objects, which the
// caller may change.
func CRDs() []*unstructured.Unstructured { return crdfiles.MustRead(crdFiles) }

package workloads

import (
	"embed"
	"fmt"
	"io/fs"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

//go:embed crds/*.yaml
var crdFiles embed.FS

// CRDs returns the CustomResourceDefinitions (apiextensions.k8s.io/v1) of the
// workload kinds, one object a kind, sorted by name. They are ready to be
// applied to a cluster, in any order. Every call returns new objects, which the
// caller may change.
//
// They hold the API server to the rules that a manifest must keep, so that a
// wrong one is refused even where no webhook runs.
func CRDs() []*unstructured.Unstructured {
	crds, err := readCRDs(crdFiles)
	if err != nil {
		// The files are part of this package, and a test reads all of them.
		panic(fmt.Sprintf("workloads: embedded CRDs: %v", err))
	}
	return crds
}

// readCRDs decodes every crds/*.yaml, in the order of the file names.
func readCRDs(files fs.FS) ([]*unstructured.Unstructured, error) {
	names, err := fs.Glob(files, "crds/*.yaml")
	if err != nil {
		return nil, err
	}
	crds := make([]*unstructured.Unstructured, 0, len(names))
	for _, name := range names {
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		json, err := yaml.YAMLToJSON(data)
		if err != nil {
			return nil, fmt.Errorf("%s: want one YAML document: %w", name, err)
		}
		crd := &unstructured.Unstructured{}
		if err := crd.UnmarshalJSON(json); err != nil {
			return nil, fmt.Errorf("%s: want a Kubernetes object: %w", name, err)
		}
		crds = append(crds, crd)
	}
	return crds, nil
}

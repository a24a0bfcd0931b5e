// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"fmt"
	"io/fs"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// MustReadCRDs is readCRDs for files that are part of the calling package and that a
// test of it reads. It panics if one of them cannot be read.
func MustReadCRDs(files fs.FS) []*unstructured.Unstructured {
	crds, err := readCRDs(files)
	if err != nil {
		panic(fmt.Sprintf("embedded CRDs: %v", err))
	}
	return crds
}

// readCRDs decodes every YAML file, in the order of the names. An error names the file.
func readCRDs(files fs.FS) ([]*unstructured.Unstructured, error) {
	var crds []*unstructured.Unstructured
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		json, err := yaml.ToJSON(data)
		if err != nil {
			return fmt.Errorf("%s: want one YAML document: %w", name, err)
		}
		crd := &unstructured.Unstructured{}
		if err := crd.UnmarshalJSON(json); err != nil {
			return fmt.Errorf("%s: want a Kubernetes object: %w", name, err)
		}
		crds = append(crds, crd)
		return nil
	})
	return crds, err
}

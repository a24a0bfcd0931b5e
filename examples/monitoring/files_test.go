// SPDX-License-Identifier: Apache-2.0

package monitoring

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kyaml "sigs.k8s.io/yaml"
)

var rewrite = flag.Bool("rewrite", false, "write the dashboards and the golden files anew")

// golden fails a test if a file is not what is wanted of it.
func golden(t *testing.T, file string, want []byte) {
	t.Helper()
	if *rewrite {
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s is out of date (-want +file); write it by: go test . -args -rewrite\n%s", file, diff)
	}
}

// decode reads a file of one YAML document and refuses fields that it does not know.
func decode[T any](t *testing.T, file string) (into T) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	if err := decoder.Decode(&into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if err := decoder.Decode(new(any)); !errors.Is(err, io.EOF) {
		t.Fatalf("%s has more than one document (%v)", file, err)
	}
	return into
}

// decodeKubernetes reads a file of one object of Kubernetes and refuses fields that it does not know.
func decodeKubernetes[T any](t *testing.T, file string) (into T) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := kyaml.UnmarshalStrict(data, &into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return into
}

// definition is one version of a CRD.
type definition struct {
	plural     string
	namespaced bool
	stored     bool
	schema     *apiextensionsv1.JSONSchemaProps
}

// definitions returns the CRDs of all areas.
func definitions(t *testing.T) map[schema.GroupVersionKind]definition {
	t.Helper()
	files, err := filepath.Glob("../../*/crds/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no CRDs (%v)", err)
	}
	all := map[schema.GroupVersionKind]definition{}
	for _, file := range files {
		crd := decodeKubernetes[apiextensionsv1.CustomResourceDefinition](t, file)
		for _, v := range crd.Spec.Versions {
			all[schema.GroupVersionKind{Group: crd.Spec.Group, Version: v.Name, Kind: crd.Spec.Names.Kind}] = definition{
				plural: crd.Spec.Names.Plural, namespaced: crd.Spec.Scope == apiextensionsv1.NamespaceScoped,
				stored: v.Storage, schema: v.Schema.OpenAPIV3Schema,
			}
		}
	}
	return all
}

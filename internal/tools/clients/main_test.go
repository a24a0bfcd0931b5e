// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// crd is one of a kind with two versions and without a namespace, cut to what is read.
const crd = `---
metadata:
  name: toys.podwright.io
spec:
  names:
    kind: Toy
    listKind: ToyList
    plural: toys
    singular: toy
  scope: Cluster
  versions:
  - additionalPrinterColumns:
    - name: AGE
      type: date
    name: v1alpha1
    served: true
    storage: false
  - name: v1beta1
    schema: {}
    served: true
    storage: true
`

func TestKindOf(t *testing.T) {
	want := kind{Kind: "Toy", Kinds: "Toys", Resource: "toys", Singular: "toy", Version: "v1beta1", InCluster: true}
	if got, err := kindOf(crd); got != want || err != nil {
		t.Errorf("error %v, %+v, want %+v", err, got, want)
	}
	for _, part := range []string{"kind: Toy\n", "plural: toys\n", "singular: toy\n", "scope: Cluster\n", "storage: true\n"} {
		if got, err := kindOf(strings.Replace(crd, part, "", 1)); err == nil {
			t.Errorf("without %q it is %+v", part, got)
		}
	}
}

// The clients are what is generated from the CRDs that stand beside them.
func TestGenerate(t *testing.T) {
	const root = "../../.."
	copied, found := t.TempDir(), 0
	for _, pattern := range []string{"*/crds/*.yaml", "internal/testing/*/crds/*.yaml"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			to := filepath.Join(copied, strings.TrimPrefix(file, root))
			for _, folder := range []string{filepath.Dir(to), filepath.Join(filepath.Dir(filepath.Dir(to)), "client", "fake")} {
				if err := os.MkdirAll(folder, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(to, content, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := generate(copied); err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"*/client/*.go", "*/client/fake/*.go", "internal/testing/*/client/*.go"} {
		files, err := filepath.Glob(filepath.Join(copied, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			found++
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			name := strings.TrimPrefix(file, copied)
			if got, err := os.ReadFile(filepath.Join(root, name)); err != nil || string(got) != string(want) {
				t.Errorf("%s is out of date (%v): make generate writes it", name, err)
			}
		}
	}
	if found < 11 {
		t.Errorf("%d files were generated, want two of five areas and one of the toy", found)
	}
}

// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// definition is what is read of a CustomResourceDefinition.
type definition struct {
	Spec struct {
		Group    string              `json:"group"`
		Names    names               `json:"names"`
		Scope    string              `json:"scope"`
		Versions []definitionVersion `json:"versions"`
	} `json:"spec"`
}

type definitionVersion struct {
	Name         string `json:"name"`
	Served       bool   `json:"served"`
	Storage      bool   `json:"storage"`
	Subresources struct {
		Status *struct{} `json:"status"`
		Scale  *scale    `json:"scale"`
	} `json:"subresources"`
	Columns []column `json:"additionalPrinterColumns"`
	Schema  struct {
		Root map[string]any `json:"openAPIV3Schema"`
	} `json:"schema"`
}

const kind = "apiextensions.k8s.io/v1 CustomResourceDefinition"

// contractsOf says by name what CRDs promise, as contracts do.
func contractsOf(crds []*unstructured.Unstructured) (map[string]contract, error) {
	contracts := map[string]contract{}
	for _, crd := range crds {
		if found := crd.GetAPIVersion() + " " + crd.GetKind(); found != kind {
			return nil, fmt.Errorf("%s: want a %s, found %s", crd.GetName(), kind, found)
		}
		c, err := contractOf(crd)
		if err != nil {
			return nil, fmt.Errorf("%s: want a %s: %w", crd.GetName(), kind, err)
		}
		contracts[c.name()] = c
	}
	return contracts, nil
}

func contractOf(crd *unstructured.Unstructured) (contract, error) {
	// By way of JSON, so that numbers are what they are in a contract that is read.
	data, err := crd.MarshalJSON()
	if err != nil {
		return contract{}, err
	}
	var d definition
	if err := json.Unmarshal(data, &d); err != nil {
		return contract{}, err
	}
	c := contract{Group: d.Spec.Group, names: d.Spec.Names, Scope: d.Spec.Scope}
	c.ListKind = cmp.Or(c.ListKind, c.Kind+"List") // as the API server does
	for _, v := range d.Spec.Versions {
		c.Versions = append(c.Versions, versionOf(v))
	}
	return c, nil
}

func versionOf(v definitionVersion) version {
	paths := map[string]attributes{}
	flatten(v.Schema.Root, "", paths)
	return version{
		Name: v.Name, Served: v.Served, Storage: v.Storage,
		Subresources: subresources{Status: v.Subresources.Status != nil, Scale: v.Subresources.Scale},
		Columns:      v.Columns,
		Paths:        paths,
	}
}

func TestContractsOfOtherObjects(t *testing.T) {
	for _, test := range []struct {
		name   string
		object map[string]any
		want   string
	}{
		{"another kind", map[string]any{"apiVersion": "v1", "kind": "Secret"}, "want a " + kind + ", found v1 Secret"},
		{"another version", map[string]any{"apiVersion": "apiextensions.k8s.io/v1beta1", "kind": "CustomResourceDefinition"}, "found apiextensions.k8s.io/v1beta1"},
		{"no schema", map[string]any{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": "a"}, "want a " + kind + ": json"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := contractsOf([]*unstructured.Unstructured{{Object: test.object}})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// promises are what is relied on in CRDs, by place. A place is the name of a CRD, perhaps with a version of it, and with the path of a field.
type promises map[string]attributes

// attributes are what is said at a place. Of a field, that is what its schema says, and "required" if the object around it must have it.
type attributes = map[string]any

// readContracts returns what the contracts in a folder promise.
func readContracts(folder fs.FS) (promises, error) {
	files, err := fs.Glob(folder, "*.yaml")
	all := promises{}
	for _, file := range files {
		data, unread := fs.ReadFile(folder, file)
		contract := attributes{}
		if err := cmp.Or(err, unread, yaml.UnmarshalStrict(data, &contract)); err != nil {
			return nil, fmt.Errorf("%s: want a contract: %w", file, err)
		}
		if want := all.add(contract) + ".yaml"; file != want {
			return nil, fmt.Errorf("%s: want the file name %s, after the CRD that it is about", file, want)
		}
	}
	return all, err
}

// promisesOf returns what CRDs promise, as contracts do.
func promisesOf(crds []*unstructured.Unstructured) (promises, error) {
	const kind = "apiextensions.k8s.io/v1 CustomResourceDefinition"
	all := promises{}
	for _, crd := range crds {
		if found := crd.GetAPIVersion() + " " + crd.GetKind(); found != kind {
			return nil, fmt.Errorf("%s: want a %s, found %s", crd.GetName(), kind, found)
		}
		data, err := crd.MarshalJSON() // by way of JSON, so that numbers are what they are in a contract
		var definition struct {
			Spec struct {
				Group, Scope any
				Names        attributes
				Versions     []attributes
			}
		}
		if err = cmp.Or(err, json.Unmarshal(data, &definition)); err != nil {
			return nil, fmt.Errorf("%s: want a %s: %w", crd.GetName(), kind, err)
		}
		spec := definition.Spec
		contract := attributes{"group": spec.Group, "scope": spec.Scope, "listKind": fmt.Sprint(spec.Names["kind"], "List")} // as the API server does
		maps.Copy(contract, spec.Names)
		var versions []any
		for _, v := range spec.Versions {
			versions = append(versions, versionOf(v))
		}
		contract["versions"] = versions
		all.add(contract)
	}
	return all, nil
}

// versionOf is a version of a CRD as it stands in a contract.
func versionOf(v attributes) attributes {
	subresources, schema, paths := object(v["subresources"]), object(object(v["schema"])["openAPIV3Schema"]), attributes{}
	flatten(schema, "", paths)
	return attributes{"name": v["name"], "served": v["served"], "storage": v["storage"], "printerColumns": v["additionalPrinterColumns"], "paths": paths,
		"subresources": attributes{"status": subresources["status"] != nil, "scale": subresources["scale"]}}
}

// add adds what a contract promises, and returns the name of the CRD.
func (p promises) add(contract attributes) (name string) {
	name = fmt.Sprint(contract["plural"], ".", contract["group"])
	versions, _ := contract["versions"].([]any)
	for _, v := range versions {
		version := object(v)
		at := fmt.Sprint(name, " ", version["name"])
		for path, field := range object(version["paths"]) {
			p[at+" "+path] = object(field)
		}
		for subresource, value := range object(version["subresources"]) {
			version["subresource "+subresource] = value
		}
		var order []any
		columns, _ := version["printerColumns"].([]any)
		for _, c := range columns {
			column := maps.Clone(object(c))
			maps.DeleteFunc(column, func(of string, value any) bool { return of == "description" || value == "" || value == 0.0 })
			column["jsonPath"] = strings.TrimPrefix(fmt.Sprint(column["jsonPath"]), ".")
			version[fmt.Sprint("column ", column["name"])], order = column, append(order, column["name"])
		}
		version["order of columns"] = order
		p[at] = without(version, "paths", "subresources", "printerColumns")
	}
	p[name] = without(contract, "versions", "deployedConversion")
	return name
}

func object(value any) attributes {
	fields, _ := value.(attributes)
	return fields
}

func without(of attributes, names ...string) attributes {
	maps.DeleteFunc(of, func(name string, _ any) bool { return slices.Contains(names, name) })
	return of
}

// comparedAttributes are those that matter to what is stored and sent, beside
// those of Kubernetes' own.
var comparedAttributes = []string{
	"type", "format", "enum", "default", "nullable",
	"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
	"pattern", "minLength", "maxLength",
	"minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties",
}

// flatten adds the fields below a schema, which stands at the path, to paths.
func flatten(schema attributes, path string, paths attributes) {
	required, _ := schema["required"].([]any)
	for name, property := range object(schema["properties"]) {
		addField(property, path+"."+name, slices.Contains(required, any(name)), paths)
	}
	addField(schema["items"], path+"[]", false, paths)
	addField(schema["additionalProperties"], path+"{}", false, paths)
}

// addField adds one field and those below it. It does nothing when there is no schema.
func addField(schema any, path string, required bool, paths attributes) {
	field := object(schema)
	if field == nil {
		return
	}
	found := maps.Clone(field)
	maps.DeleteFunc(found, func(attribute string, _ any) bool {
		return !slices.Contains(comparedAttributes, attribute) && !strings.HasPrefix(attribute, "x-kubernetes-")
	})
	if required {
		found["required"] = true
	}
	paths[path] = found
	flatten(field, path, paths)
}

func TestWrongContractsAndDefinitions(t *testing.T) {
	const good, file = "group: g.io\nplural: foos\nversions:\n- {name: v1, paths: {.spec: {type: object}}}\n", "foos.g.io.yaml"
	for _, test := range []struct{ file, contract, want string }{
		{file, good, ""},
		{file, good + "group: h.io\n", file + ": want a contract"},
		{"bars.g.io.yaml", good, "bars.g.io.yaml: want the file name foos.g.io.yaml"},
	} {
		got, err := readContracts(fstest.MapFS{test.file: {Data: []byte(test.contract)}})
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("error %v, want %q", err, test.want)
		}
		if err == nil && (len(got) != 3 || got["foos.g.io v1 .spec"]["type"] != "object") {
			t.Errorf("promises %v", got)
		}
	}
	for object, want := range map[string]string{
		`{"apiVersion":"v1","kind":"Secret"}`:                                                   "found v1 Secret",
		`{"apiVersion":"apiextensions.k8s.io/v1beta1","kind":"CustomResourceDefinition"}`:       "found apiextensions.k8s.io/v1beta1",
		`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","spec":"a"}`: ": json",
	} {
		crd := &unstructured.Unstructured{}
		if err := crd.UnmarshalJSON([]byte(object)); err != nil {
			t.Fatal(err)
		}
		if _, err := promisesOf([]*unstructured.Unstructured{crd}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"os"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// definition is that of a kind, as testdata/definitions.txt tells it of all releases.
type definition struct {
	name, kind      string
	clusterScoped   bool
	webhook, scaled bool
	versions        []version
	fields          []field
}

// version is one of a definition, and the release that brought it; empty for 1.4.
type version struct{ name, since string }

// field is one of a schema. A release has it from since on and before until; only names the one version that has it.
type field struct {
	path, kind, since, until, only string
	required, open                 bool
	enum                           []any
}

// in tells whether a release has the field in a version.
func (f *field) in(release, version string) bool {
	return f.since <= release && (f.until == "" || release < f.until) && (f.only == "" || f.only == version)
}

// readDefinitions reads what OpenKruise's definitions are.
func readDefinitions(t *testing.T) (all []*definition) {
	t.Helper()
	content, err := os.ReadFile("testdata/definitions.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(content)) {
		words := strings.Fields(line)
		switch {
		case words[0] == "#":
		case strings.HasPrefix(line, " "):
			d := all[len(all)-1]
			d.fields = append(d.fields, fieldOf(t, words))
		default:
			all = append(all, definitionOf(words))
		}
	}
	return all
}

func definitionOf(words []string) *definition {
	d := &definition{name: words[0], kind: words[1], clusterScoped: words[2] == "Cluster"}
	for _, word := range words[3:] {
		switch word {
		case "webhook":
			d.webhook = true
		case "scale":
			d.scaled = true
		default:
			name, since, _ := strings.Cut(word, ":")
			d.versions = append(d.versions, version{name, since})
		}
	}
	return d
}

func fieldOf(t *testing.T, words []string) field {
	t.Helper()
	f := field{path: words[0], kind: words[1]}
	for _, word := range words[2:] {
		switch name, value, _ := strings.Cut(word, "="); name {
		case "required":
			f.required = true
		case "open":
			f.open = true
		case "since":
			f.since = value
		case "until":
			f.until = value
		case "only":
			f.only = value
		case "enum":
			for one := range strings.SplitSeq(value+",", ",") {
				f.enum = append(f.enum, one)
			}
			if f.enum = f.enum[:len(f.enum)-1]; len(f.enum) == 0 {
				t.Fatalf("%s: no values in %q", f.path, word)
			}
		default:
			t.Fatalf("%s: what is %q?", f.path, word)
		}
	}
	return f
}

// stored is the version in which a release stores objects of a kind; empty if it has no such kind.
func (d *definition) stored(release string) (name string) {
	for _, v := range d.versions {
		if v.since <= release {
			name = v.name
		}
	}
	return name
}

// crd is the definition that a release installs. If it converts, it leads to a Service that answers while OpenKruise runs.
func (d *definition) crd(release string) *unstructured.Unstructured {
	plural, group, _ := strings.Cut(d.name, ".")
	var versions []any
	for _, v := range d.versions {
		if v.since <= release {
			versions = append(versions, d.version(release, v.name))
		}
	}
	conversion := map[string]any{"strategy": "None"}
	if d.webhook && len(versions) > 1 {
		conversion = map[string]any{"strategy": "Webhook", "webhook": map[string]any{"conversionReviewVersions": []any{"v1", "v1beta1"}, "clientConfig": map[string]any{
			"service": map[string]any{"namespace": "kruise-system", "name": "kruise-webhook-service", "path": "/convert", "port": int64(443)}}}}
	}
	scope := "Namespaced"
	if d.clusterScoped {
		scope = "Cluster"
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": d.name},
		"spec": map[string]any{"group": group, "scope": scope, "conversion": conversion, "versions": versions, "preserveUnknownFields": false,
			"names": map[string]any{"kind": d.kind, "listKind": d.kind + "List", "plural": plural, "singular": strings.ToLower(d.kind)}},
	}}
}

// version is one of the versions that a release has.
func (d *definition) version(release, name string) map[string]any {
	top := map[string]any{"type": "object", "properties": map[string]any{
		"apiVersion": map[string]any{"type": "string"}, "kind": map[string]any{"type": "string"}, "metadata": map[string]any{"type": "object"}}}
	for i := range d.fields {
		if f := &d.fields[i]; f.in(release, name) {
			f.addTo(top, steps(f.path))
		}
	}
	subresources := map[string]any{"status": map[string]any{}}
	if d.scaled {
		subresources["scale"] = map[string]any{"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas", "labelSelectorPath": ".status.labelSelector"}
	}
	return map[string]any{"name": name, "served": true, "storage": name == d.stored(release), "subresources": subresources, "schema": map[string]any{"openAPIV3Schema": top}}
}

// steps are the names on a path: [] for the elements of a list, * for those of a map.
func steps(path string) []string {
	return strings.Split(strings.ReplaceAll(strings.TrimPrefix(path, "."), "[]", ".[]"), ".")
}

// addTo adds the field to a schema, below which what is on its way is already.
func (f *field) addTo(schema map[string]any, steps []string) {
	if len(steps) > 1 {
		f.addTo(below(schema, steps[0]), steps[1:])
		return
	}
	made := map[string]any{}
	switch f.kind {
	case "any":
	case "int-or-string":
		made["x-kubernetes-int-or-string"] = true
	default:
		made["type"] = f.kind
	}
	if f.kind == "array" {
		made["items"] = map[string]any{}
	}
	if f.open || f.kind == "any" {
		made["x-kubernetes-preserve-unknown-fields"] = true
	}
	if f.open && f.kind == "array" {
		delete(made, "x-kubernetes-preserve-unknown-fields")
		made["items"] = map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
	}
	if f.enum != nil {
		made["enum"] = f.enum
	}
	switch name := steps[0]; name {
	case "[]":
		schema["items"] = made
	case "*":
		schema["additionalProperties"] = made
	default:
		properties, _ := schema["properties"].(map[string]any)
		if properties == nil {
			properties = map[string]any{}
			schema["properties"] = properties
		}
		properties[name] = made
		if required, _ := schema["required"].([]any); f.required && !slices.Contains(required, any(name)) {
			schema["required"] = append(required, name)
		}
	}
}

// below is what stands below a schema by a name.
func below(schema map[string]any, name string) map[string]any {
	switch name {
	case "[]":
		found, _ := schema["items"].(map[string]any)
		return found
	case "*":
		found, _ := schema["additionalProperties"].(map[string]any)
		return found
	}
	properties, _ := schema["properties"].(map[string]any)
	found, _ := properties[name].(map[string]any)
	return found
}

// unknownTo lists the fields of an object that a release does not have. What is not in its definitions it does not read, and drops.
func (d *definition) unknownTo(release string, u *unstructured.Unstructured) []string {
	v := d.version(release, u.GroupVersionKind().Version)
	var unknown []string
	gather(v["schema"].(map[string]any)["openAPIV3Schema"].(map[string]any), u.Object, "", &unknown)
	slices.Sort(unknown)
	return slices.Compact(unknown)
}

// gather gathers the fields of a value that a schema does not have.
func gather(schema map[string]any, value any, path string, unknown *[]string) {
	if schema["x-kubernetes-preserve-unknown-fields"] == true {
		return
	}
	switch value := value.(type) {
	case map[string]any:
		for name, one := range value {
			known := below(schema, name)
			if known == nil {
				known = below(schema, "*")
			}
			switch {
			case path == "" && name == "metadata":
			case known == nil:
				*unknown = append(*unknown, strings.TrimPrefix(path+"."+name, "."))
			default:
				gather(known, one, path+"."+name, unknown)
			}
		}
	case []any:
		for _, one := range value {
			gather(below(schema, "[]"), one, path, unknown)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"cmp"
	_ "embed" // definitions.txt
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

//go:embed definitions.txt
var definitionsText string

// own is a definition of podwright, as far as a check is about it.
type own struct {
	group, kind string
	// versions are those that it serves, and whether only on demand.
	versions map[string]bool
	// fields are those of each version.
	fields map[string]*fields
}

// fields are those that a schema has below a field.
type fields struct {
	below map[string]*fields
	// any says that every field may be there, and of what shape it is; nil if not.
	any *fields
	// same is the version before, of which a version has all fields if it has none of its own.
	same *fields
	// kept says that whatever is there stays.
	kept bool
}

// ownDefinitions are podwright's, by name. The text has a line for each definition, version and field, indented by what it is below. A version without fields has those of the one before. The
// CRDs themselves would make the program larger by half a megabyte; a test holds the text to them.
var ownDefinitions = sync.OnceValue(func() map[string]own {
	all := map[string]own{}
	var definition own
	var above []*fields
	for line := range strings.Lines(definitionsText) {
		name := strings.TrimLeft(line, " ")
		depth := len(line) - len(name)
		switch words := strings.Fields(name); depth {
		case 0:
			definition = own{group: words[1], kind: words[2], versions: map[string]bool{}, fields: map[string]*fields{}}
			all[words[0]] = definition
			above = nil
		case 1:
			top := &fields{below: map[string]*fields{}}
			definition.versions[words[0]], definition.fields[words[0]] = len(words) > 1, top
			if above != nil {
				top.same = above[0]
			}
			above = []*fields{top}
		default:
			above = append(above[:depth-1], above[depth-2].add(words[0]))
		}
	}
	return all
})

// add adds a field by the word that stands for it: a name, * for any name; with ! behind it what is there stays.
func (f *fields) add(word string) *fields {
	name, kept := strings.CutSuffix(word, "!")
	added := &fields{below: map[string]*fields{}, kept: kept}
	if name == "*" {
		f.any = added
	} else {
		f.below[name] = added
	}
	return added
}

// definitions compares the definitions in the cluster with podwright's: the API server refuses one that lacks a version in which
// objects are stored.
func (c *check) definitions() {
	for _, d := range c.Definitions {
		o, known := ownDefinitions()[d.GetName()]
		object := "CustomResourceDefinition " + d.GetName()
		if !known {
			c.answer(object, "KC-29", "podwright has no such kind: nothing acts on its objects.", "Keep what you need of them before the move.")
			continue
		}
		stored := strs(d.Object, "status", "storedVersions")
		for _, version := range versionsOf(d) {
			held := "serves"
			if slices.Contains(stored, version) {
				held = "stores"
			}
			switch onDemand, has := o.versions[version]; {
			case has && !onDemand:
			case has && slices.Contains(stored, version):
				c.answer(object, "PF-5.3", fmt.Sprintf("OpenKruise stores %s, and the API server refuses to drop a stored version. podwright keeps it, if its definition is applied so.", version),
					"Give podwright's manager --install-crds, or apply install/v1beta1/crds.yaml before it starts.")
			case has:
				c.answer(object, "PF-5.2", fmt.Sprintf("OpenKruise serves %s. podwright's definition lacks this version by default.", version),
					"Give podwright's manager --serve-v1beta1 and --install-crds.")
			default:
				c.answer(object, "PF-5.2", fmt.Sprintf("OpenKruise %s %s, which podwright does not serve.", held, version),
					"Delete its objects and the definition, or stay with OpenKruise for this kind.")
			}
		}
		if text(d.Object, "spec", "conversion", "strategy") == "Webhook" {
			c.happens(object, "PF-5", "While no manager answers, requests for a version that is not stored fail.")
		}
	}
}

// versionsOf are the names of the versions that a definition serves or stores, sorted.
func versionsOf(d *unstructured.Unstructured) []string {
	all := map[string]bool{}
	for _, version := range objects(d.Object, "spec", "versions") {
		if truth(version, "served") || truth(version, "storage") {
			all[text(version, "name")] = true
		}
	}
	for _, version := range strs(d.Object, "status", "storedVersions") {
		all[version] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// prunings name fields that podwright's definitions lack: the API server drops them with the next write of the object.
func (c *check) prunings() {
	for _, o := range ownDefinitions() {
		for _, object := range c.Objects[o.kind] {
			schema := o.fields[object.GroupVersionKind().Version]
			if schema == nil {
				continue // the definition says so
			}
			if len(schema.below) == 0 {
				schema = schema.same
			}
			if lost := schema.lack(object.Object, ""); len(lost) > 0 {
				c.answer(title(object), "KC-29", "podwright's definition lacks "+few(lost)+": the API server drops that with the next write.",
					"Take the field out, or decide that it may go.")
			}
		}
	}
}

// lack lists the fields of a value that are not there, sorted.
func (f *fields) lack(value any, path string) (all []string) {
	if f.kept {
		return nil
	}
	switch value := value.(type) {
	case map[string]any:
		for name := range value {
			below := cmp.Or(f.below[name], f.any)
			switch {
			case path == "" && slices.Contains([]string{"apiVersion", "kind", "metadata"}, name):
			case below != nil:
				all = append(all, below.lack(value[name], path+"."+name)...)
			default:
				all = append(all, strings.TrimPrefix(path+"."+name, "."))
			}
		}
	case []any:
		for _, element := range value {
			all = append(all, f.lack(element, path)...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

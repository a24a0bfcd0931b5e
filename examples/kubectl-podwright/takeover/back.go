// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/podwright/podwright/workloads/conversion"
)

// Releases are those of OpenKruise to which a cluster can be handed back, the oldest first.
var Releases = []string{"1.4", "1.5", "1.6", "1.7", "1.8", "1.9"}

// CheckBack judges what a release of OpenKruise could not read of a cluster that podwright hands back to it. (KC-30)
func CheckBack(cluster *Cluster, release string) *Report {
	c := &check{Cluster: cluster, release: release}
	c.storedTooNew()
	c.keptAside()
	for _, field := range newFields {
		if before(release, field.since) {
			c.fieldTooNew(field)
		}
	}
	if !before(release, "1.8") {
		c.pods(mustEnd)
	}
	return &Report{OpenKruise: release, By: "to which the cluster is handed back", Findings: c.sorted(), Unread: cluster.Unread}
}

// storedTooNew finds definitions whose objects are stored in a version that the release does not have.
func (c *check) storedTooNew() {
	if !before(c.release, "1.9") {
		return
	}
	for _, d := range c.Definitions {
		if d.GetName() != alwaysBeta && slices.Contains(strs(d.Object, "status", "storedVersions"), "v1beta1") {
			c.answer("CustomResourceDefinition "+d.GetName(), "PF-5.2", fmt.Sprintf("Its objects are stored as v1beta1, which OpenKruise %s does not have: the API server refuses its definition.", c.release),
				"Have all objects stored as v1alpha1, and take v1beta1 off status.storedVersions.")
		}
	}
}

// keptAside finds fields of v1beta1 that podwright has stored in v1alpha1, in which OpenKruise does not read them. (KC-30)
func (c *check) keptAside() {
	for _, field := range asideFields {
		stored := c.definition(field.definition)
		if stored == nil || !stores(stored, "v1alpha1") {
			continue
		}
		for _, object := range c.Objects[field.kind] {
			if slices.ContainsFunc(aside(object, strings.Split(field.path, ".")), func(value any) bool { return value != nil }) {
				c.answer(title(object), "KC-30", fmt.Sprintf("Its %s is stored in v1alpha1, in which OpenKruise does not read it.", field.path), field.do)
			}
		}
	}
}

// stores tells whether a definition has objects stored in a version from now on.
func stores(definition *unstructured.Unstructured, version string) bool {
	return slices.ContainsFunc(objects(definition.Object, "spec", "versions"), func(v map[string]any) bool {
		return text(v, "name") == version && truth(v, "storage")
	})
}

// aside is what an object has at a path that OpenKruise has in v1beta1 alone: there, or, in v1alpha1, in annotations.
func aside(object *unstructured.Unstructured, path []string) []any {
	values := at(object.Object, path)
	for key, text := range object.GetAnnotations() {
		if key == conversion.KeptFieldsAnnotation || strings.HasPrefix(key, conversion.KeptFieldsPrefix) {
			var kept any // nil if it cannot be read
			_ = json.Unmarshal([]byte(text), &kept)
			values = append(values, at(kept, path)...)
		}
	}
	return values
}

// fieldTooNew finds objects with a field or a value that the release does not have.
func (c *check) fieldTooNew(field newField) {
	for _, object := range c.Objects[field.kind] {
		if !slices.ContainsFunc(at(object.Object, strings.Split(field.path, ".")), field.matches) {
			continue
		}
		missing := "does not have " + field.path
		if field.path == "" {
			missing = "does not have this kind"
		} else if field.value != nil {
			missing = "cannot read what stands in " + field.path
		}
		c.answer(title(object), "KC-30", fmt.Sprintf("OpenKruise %s %s.", c.release, missing), "Take it out before you hand back, or decide that it may go.")
	}
}

// newField is what a release of OpenKruise has brought, or "" if none has.
type newField struct {
	since, kind string
	// path is that of the field; elements of lists are all meant. Empty stands for the whole object.
	path string
	// value tells which values are new; nil stands for all.
	value func(any) bool
}

func (f newField) matches(value any) bool { return value != nil && (f.value == nil || f.value(value)) }

// isText tells whether a value that used to be a number is a text.
func isText(value any) bool { _, is := value.(string); return is }

// at returns what stands at a path, in all elements of lists on the way.
func at(value any, path []string) (all []any) {
	if elements, is := value.([]any); is {
		for _, element := range elements {
			all = append(all, at(element, path)...)
		}
		return all
	}
	if len(path) == 0 || path[0] == "" {
		return []any{value}
	}
	object, _ := value.(map[string]any)
	below, found := object[path[0]]
	if !found {
		return nil
	}
	return at(below, path[1:])
}

// mustEnd are the states of pods that OpenKruise 1.8 and later would never end.
var mustEnd = []state{
	{func(_ *check, pod *unstructured.Unstructured) bool {
		noted := record(pod)
		return noted != nil && len(noted.NextContainerResources) > 0
	}, NeedsAnswer, "IP-38", "A resize is under way, which OpenKruise 1.8 and later would take for a batch that never begins: ", "Wait until it is done."},
}

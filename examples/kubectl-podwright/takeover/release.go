// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// versioned matches an image with a tag that begins with a version.
var versioned = regexp.MustCompile(`:v?(\d+\.\d+)\.\d+`)

// release returns the release of OpenKruise in the cluster, and how it was told. It is empty if there is none. (KC-27)
func (c *Cluster) release() (release, by string) {
	for _, program := range c.Programs {
		if found := versioned.FindStringSubmatch(imageOf(program)); found != nil && isOpenKruise(program) && program.GetKind() == "Deployment" {
			return found[1], "by the image of " + title(program)
		}
	}
	if len(c.Definitions) == 0 && !slices.ContainsFunc(c.Programs, isOpenKruise) {
		return "", "no CustomResourceDefinition and no program of OpenKruise is here"
	}
	if !slices.ContainsFunc(c.Programs, isOpenKruise) && slices.ContainsFunc(c.Programs, isPodwright) {
		return "", "podwright runs here, and no program of OpenKruise does"
	}
	for _, mark := range marks {
		if d := c.definition(mark.definition); d != nil && (mark.field == nil || declares(d, mark.field)) {
			if mark.field == nil {
				return mark.release, "by the CustomResourceDefinition " + mark.definition
			}
			return mark.release, "by the field " + strings.Join(mark.field, ".") + " of " + mark.definition
		}
	}
	return "1.4", "by what is missing of later releases"
}

// definition returns the CustomResourceDefinition of a name; nil if there is none.
func (c *Cluster) definition(name string) *unstructured.Unstructured {
	for _, d := range c.Definitions {
		if d.GetName() == name {
			return d
		}
	}
	return nil
}

// declares tells whether a version of a definition has a field.
func declares(definition *unstructured.Unstructured, field []string) bool {
	return slices.ContainsFunc(objects(definition.Object, "spec", "versions"), func(version map[string]any) bool {
		schema := version["schema"]
		for _, name := range append([]string{"openAPIV3Schema"}, properties(field)...) {
			object, _ := schema.(map[string]any)
			schema = object[name]
		}
		return schema != nil
	})
}

// properties is the path of a field in a schema.
func properties(field []string) (path []string) {
	for _, name := range field {
		path = append(path, "properties", name)
	}
	return path
}

// containerOf is the first container of a program; nil if it has none.
func containerOf(program *unstructured.Unstructured) map[string]any {
	for _, container := range objects(program.Object, "spec", "template", "spec", "containers") {
		return container
	}
	return nil
}

func imageOf(program *unstructured.Unstructured) string { return text(containerOf(program), "image") }

// isOpenKruise tells whether a program is OpenKruise's manager or agent, both of which come in the image kruise-manager.
func isOpenKruise(program *unstructured.Unstructured) bool {
	repository, _, _ := strings.Cut(path.Base(imageOf(program)), ":")
	repository, _, _ = strings.Cut(repository, "@")
	return repository == "kruise-manager" || repository == "kruise-daemon" || program.GetName() == "kruise-daemon" && !isPodwright(program)
}

// isPodwright tells whether a program is podwright's manager or agent.
func isPodwright(program *unstructured.Unstructured) bool {
	name := text(program.Object, "spec", "template", "metadata", "labels", "app.kubernetes.io/name")
	return name == "podwright-manager" || name == "podwright-nodeagent"
}

// replicas is how many pods a program should have.
func replicas(program *unstructured.Unstructured) int64 {
	if program.GetKind() == perNode {
		desired, _ := number(program.Object, "status", "desiredNumberScheduled")
		return desired
	}
	if wanted, said := number(program.Object, "spec", "replicas"); said {
		return wanted
	}
	return 1
}

// before tells whether one release came before another.
func before(a, b string) bool { return len(a) < len(b) || len(a) == len(b) && a < b }

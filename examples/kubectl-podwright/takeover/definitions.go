// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/availability"
	"github.com/podwright/podwright/distribution"
	distributionconversion "github.com/podwright/podwright/distribution/conversion"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/sidecar"
	sidecarconversion "github.com/podwright/podwright/sidecar/conversion"
	"github.com/podwright/podwright/workloads"
	workloadsconversion "github.com/podwright/podwright/workloads/conversion"
)

// own is a definition of podwright.
type own struct {
	// plain is the definition as it comes, and served that with v1beta1 too, if podwright serves that on demand.
	plain, served *unstructured.Unstructured
}

// ownDefinitions are podwright's, by name.
var ownDefinitions = sync.OnceValue(func() map[string]own {
	all := map[string]own{}
	for _, d := range slices.Concat(workloads.CRDs(), distribution.CRDs(), lifecycle.CRDs(), sidecar.CRDs(), availability.CRDs()) {
		all[d.GetName()] = own{plain: d, served: d}
	}
	anywhere := admissionregistrationv1.WebhookClientConfig{URL: ptr.To("https://localhost/convert")}
	for name, o := range all {
		for _, serve := range []func(*unstructured.Unstructured, admissionregistrationv1.WebhookClientConfig) error{
			workloadsconversion.ServeV1beta1, sidecarconversion.ServeV1beta1, distributionconversion.ServeV1beta1} {
			if d := o.plain.DeepCopy(); serve(d, anywhere) == nil && len(versionsOf(d)) > len(versionsOf(o.plain)) {
				o.served = d
				all[name] = o
				break
			}
		}
	}
	return all
})

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
			switch {
			case has(versionOf(o.plain, version), "name"):
			case has(versionOf(o.served, version), "name"):
				c.answer(object, "PF-5.2", fmt.Sprintf("OpenKruise %s %s. podwright's definition lacks this version by default, and the API server refuses to drop a stored one.", held, version),
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

// versionOf is a version of a definition; nil if it does not have it.
func versionOf(d *unstructured.Unstructured, name string) map[string]any {
	for _, version := range objects(d.Object, "spec", "versions") {
		if text(version, "name") == name {
			return version
		}
	}
	return nil
}

// prunings name fields that podwright's definitions lack: the API server drops them with the next write of the object.
func (c *check) prunings() {
	for _, o := range ownDefinitions() {
		for _, object := range c.Objects[text(o.plain.Object, "spec", "names", "kind")] {
			version := versionOf(o.served, object.GroupVersionKind().Version)
			if version == nil {
				continue // the definition says so
			}
			schema, _, _ := unstructured.NestedMap(version, "schema", "openAPIV3Schema")
			if lost := unknown(schema, object.Object, ""); len(lost) > 0 {
				c.answer(title(object), "KC-29", "podwright's definition lacks "+few(lost)+": the API server drops that with the next write.",
					"Take the field out, or decide that it may go.")
			}
		}
	}
}

// unknown lists the fields of a value that a schema lacks, sorted.
func unknown(schema map[string]any, value any, path string) (all []string) {
	if truth(schema, "x-kubernetes-preserve-unknown-fields") || truth(schema, "x-kubernetes-embedded-resource") {
		return nil
	}
	switch value := value.(type) {
	case map[string]any:
		declared, _ := schema["properties"].(map[string]any)
		others, _ := schema["additionalProperties"].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(value)) {
			below, known := declared[name].(map[string]any)
			switch {
			case path == "" && slices.Contains([]string{"apiVersion", "kind", "metadata"}, name):
			case known:
				all = append(all, unknown(below, value[name], path+"."+name)...)
			case others != nil:
				all = append(all, unknown(others, value[name], path+"."+name)...)
			case schema["additionalProperties"] == true:
			default:
				all = append(all, strings.TrimPrefix(path+"."+name, "."))
			}
		}
	case []any:
		items, _ := schema["items"].(map[string]any)
		for _, element := range value {
			all = append(all, unknown(items, element, path)...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

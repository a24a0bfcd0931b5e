// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// schemaDefault is the default of a field of the spec.
type schemaDefault struct {
	field string // below spec, its parts separated by dots
	value any
}

// schemaDefaults are the defaults of fields whose absence misleads readers that know
// none, by the name of the definition. They are those of the webhooks. Since no
// StatefulSet of the type OnDelete may have a rollingUpdate, only an absent
// updateStrategy gets one.
var schemaDefaults = map[string][]schemaDefault{
	"clonesets.apps.kruise.io": {
		{"replicas", int64(1)},
		{"updateStrategy", map[string]any{}},
		{"updateStrategy.type", "ReCreate"},
		{"updateStrategy.partition", int64(0)},
	},
	"statefulsets.apps.kruise.io": {
		{"replicas", int64(1)},
		{"updateStrategy", map[string]any{"rollingUpdate": map[string]any{}}},
		{"updateStrategy.type", "RollingUpdate"},
		{"updateStrategy.rollingUpdate.partition", int64(0)},
	},
	"daemonsets.apps.kruise.io": {
		{"updateStrategy", map[string]any{}},
		{"updateStrategy.type", "RollingUpdate"},
		{"updateStrategy.rollingUpdate", map[string]any{}},
	},
}

// CRDsWithDefaults returns the definitions of CRDs with some defaults in their schemas.
// They are those of fields that autoscalers (spec.replicas) and the health checks of Argo
// CD (spec.updateStrategy of CloneSet, StatefulSet and DaemonSet) read. These take an
// absent field for 0, for a pause or for an error. They are the defaults of the webhooks,
// so nothing changes if those are served. A DaemonSet of the type OnDelete gets an empty
// rollingUpdate, which means nothing.
//
// The API server fills them in in whatever it stores or reads from then on, and
// starts no rollout by that. To take them away again, apply the definitions of
// CRDs: what has been stored since keeps its fields.
func CRDsWithDefaults() []*unstructured.Unstructured {
	all := CRDs()
	for _, crd := range all {
		for _, d := range schemaDefaults[crd.GetName()] {
			if err := d.setIn(crd); err != nil {
				panic(fmt.Sprintf("embedded CRD %s: %v", crd.GetName(), err))
			}
		}
	}
	return all
}

// setIn writes a default into the schemas of all versions.
func (d schemaDefault) setIn(crd *unstructured.Unstructured) error {
	versions, _, err := unstructured.NestedSlice(crd.Object, "spec", "versions")
	if err != nil {
		return err
	}
	path := []string{"schema", "openAPIV3Schema", "properties", "spec"}
	for part := range strings.SplitSeq(d.field, ".") {
		path = append(path, "properties", part)
	}
	for _, version := range versions {
		fields, _ := version.(map[string]any)
		if _, found, err := unstructured.NestedMap(fields, path...); err != nil {
			return err
		} else if !found {
			return fmt.Errorf("a version lacks spec.%s", d.field)
		}
		if err := unstructured.SetNestedField(fields, d.value, append(path, "default")...); err != nil {
			return err
		}
	}
	return unstructured.SetNestedSlice(crd.Object, versions, "spec", "versions")
}

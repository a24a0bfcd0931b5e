// SPDX-License-Identifier: Apache-2.0

package monitoring

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-state-metrics/v2/pkg/customresourcestate"
)

// usual returns what is shown of a kind, as an item of customresourcestate.yaml: what nothing has to be known of it for.
func usual(kind schema.GroupVersionKind, d definition) string {
	name, namespace := strings.ToLower(kind.Kind), ""
	if d.namespaced {
		namespace = "namespace: [metadata, namespace], "
	}
	text := fmt.Sprintf(`  - groupVersionKind: {group: %s, version: %s, kind: %s}
    metricNamePrefix: kruise_%s
    labelsFromPath: {%s%s: [metadata, name]}
    errorLogV: 4
    metrics:
    - {name: created, help: "When it was created", each: {type: Gauge, gauge: {path: [metadata, creationTimestamp]}}}
    - {name: metadata_generation, help: "The generation of its spec", each: {type: Gauge, gauge: {path: [metadata, generation]}}}
`, kind.Group, kind.Version, kind.Kind, name, namespace, name)
	if _, _, err := field(d.schema, "status", "observedGeneration"); err == nil {
		text += `    - {name: status_observed_generation, help: "The generation that its status is about", each: {type: Gauge, gauge: {path: [status, observedGeneration]}}}
`
	}
	if _, _, err := field(d.schema, "status", "conditions", "[type=HeldUp]", "lastTransitionTime"); err == nil {
		text += `    - {name: status_condition, help: "Its conditions", each: {type: StateSet, stateSet: {path: [status, conditions], labelName: status, list: ["True", "False", Unknown], valueFrom: [status], labelsFromPath: {condition: [type]}}}}
    - {name: status_held_up_since, help: "Since when it is held up", each: {type: Gauge, gauge: {path: [status, conditions, "[type=HeldUp]"], valueFrom: [lastTransitionTime], labelsFromPath: {reason: [reason]}}}}
`
	}
	return text
}

// unshown returns the kinds that are stored, and of which nothing is shown.
func unshown(t *testing.T) map[schema.GroupVersionKind]definition {
	all := definitions(t)
	maps.DeleteFunc(all, func(_ schema.GroupVersionKind, d definition) bool { return !d.stored })
	for _, r := range configured(t) {
		delete(all, schema.GroupVersionKind(r.GroupVersionKind))
	}
	return all
}

// TestUsual adds the kinds that customresourcestate.yaml lacks, if it is asked to. TestPaths fails for those that are missing.
func TestUsual(t *testing.T) {
	if missing := unshown(t); *rewrite && len(missing) > 0 {
		file, err := os.OpenFile("customresourcestate.yaml", os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		for _, kind := range slices.SortedFunc(maps.Keys(missing), func(a, b schema.GroupVersionKind) int { return strings.Compare(a.String(), b.String()) }) {
			if _, err := file.WriteString(usual(kind, missing[kind])); err != nil {
				t.Fatal(err)
			}
		}
	}
	kind := schema.GroupVersionKind{Group: "apps.kruise.io", Version: "v1alpha1", Kind: "PodProbeMarker"}
	d := definitions(t)[kind]
	var resources []customresourcestate.Resource
	if err := yaml.Unmarshal([]byte(usual(kind, d)), &resources); err != nil || len(resources) != 1 {
		t.Fatalf("error %v, %d resources", err, len(resources))
	}
	var names []string
	root := *d.schema
	root.Properties = maps.Clone(root.Properties)
	root.Properties["metadata"] = metadata
	for _, g := range resources[0].Metrics {
		names = append(names, g.Name)
		if err := checkPaths(&root, g); err != nil {
			t.Errorf("%s: %v", g.Name, err)
		}
	}
	if diff := cmp.Diff([]string{"created", "metadata_generation", "status_observed_generation", "status_condition", "status_held_up_since"}, names); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}

// example returns an object that shows the usual metrics of a kind.
func example(kind schema.GroupVersionKind, d definition) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	metadata := map[string]any{"name": "any", "generation": int64(1), "creationTimestamp": "2026-01-02T03:04:05Z"}
	if d.namespaced {
		metadata["namespace"] = "shop"
	}
	object.Object["metadata"] = metadata
	status := map[string]any{}
	if _, _, err := field(d.schema, "status", "observedGeneration"); err == nil {
		status["observedGeneration"] = int64(1)
	}
	if _, _, err := field(d.schema, "status", "conditions", "[type=HeldUp]", "lastTransitionTime"); err == nil {
		status["conditions"] = []any{map[string]any{"type": "HeldUp", "status": "True", "reason": "Image", "lastTransitionTime": "2026-01-02T04:04:05Z"}}
	}
	object.Object["status"] = status
	return object
}

// examples returns one of each kind that is not among some objects, sorted.
func examples(t *testing.T, given []*unstructured.Unstructured) (all []*unstructured.Unstructured) {
	for kind, d := range definitions(t) {
		if d.stored && !slices.ContainsFunc(given, func(o *unstructured.Unstructured) bool { return o.GroupVersionKind() == kind }) {
			all = append(all, example(kind, d))
		}
	}
	slices.SortFunc(all, func(a, b *unstructured.Unstructured) int { return strings.Compare(a.GetKind(), b.GetKind()) })
	return all
}

// further is a panel of each kind of which no other panel shows anything: how many objects there are.
func further(t *testing.T) (panels []panel) {
	shown := ""
	for _, b := range boards {
		for _, p := range b.panels {
			for _, q := range p.queries {
				shown += q.expr + "\n"
			}
		}
	}
	for _, r := range configured(t) {
		if prefix := *r.MetricNamePrefix + "_"; !strings.Contains(shown, prefix) {
			panels = append(panels, one(r.GroupVersionKind.Kind+"s", "none", "count("+prefix+"created)", "there are"))
		}
	}
	return panels
}

// SPDX-License-Identifier: Apache-2.0

package crds

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"
	utiljson "sigs.k8s.io/json"

	"github.com/podwright/podwright/distribution"
	distributionconversion "github.com/podwright/podwright/distribution/conversion"
	"github.com/podwright/podwright/examples/tests/crds/appliers"
	"github.com/podwright/podwright/sidecar"
	sidecarconversion "github.com/podwright/podwright/sidecar/conversion"
	"github.com/podwright/podwright/workloads"
	"github.com/podwright/podwright/workloads/conversion"
)

// onDemand are the kinds that are served as v1beta1 if the user asks for it, and how they are converted.
var onDemand = map[string]func([]byte, string) ([]byte, error){
	"daemonsets.apps.kruise.io":        conversion.DaemonSet,
	"broadcastjobs.apps.kruise.io":     conversion.BroadcastJob,
	"advancedcronjobs.apps.kruise.io":  conversion.AdvancedCronJob,
	"sidecarsets.apps.kruise.io":       sidecarconversion.SidecarSet,
	"imagepulljobs.apps.kruise.io":     distributionconversion.ImagePullJob,
	"imagelistpulljobs.apps.kruise.io": distributionconversion.ImageListPullJob,
	"nodeimages.apps.kruise.io":        distributionconversion.NodeImage,
}

// conversionOf is how the objects of a definition are converted; nil if it has one version alone.
func conversionOf(crd *unstructured.Unstructured) func([]byte, string) ([]byte, error) {
	if crd.GetName() == "statefulsets.apps.kruise.io" {
		return conversion.StatefulSet
	}
	return onDemand[crd.GetName()]
}

const versionLabel = "apps.kruise.io/sidecarset-custom-version"

// applied are fields of each kind with two versions: all that differ, and some that do not.
var applied = map[string][]appliers.Field{
	"statefulsets.apps.kruise.io": {
		appliers.Both("spec.replicas", int64(3), int64(4)), appliers.Both("spec.updateStrategy.type", "OnDelete"),
		appliers.Beta("spec.reserveOrdinals", []any{int64(1)}, []any{int64(1), "5-7"}),
		appliers.Beta("spec.ordinals.start", int64(7), int64(8)), appliers.Beta("spec.scaleStrategy.maxUnavailable", int64(1), "50%"),
		appliers.Beta("spec.persistentVolumeClaimRetentionPolicy.whenDeleted", "Retain", "Delete"),
		appliers.Beta("spec.persistentVolumeClaimRetentionPolicy.whenScaled", "Retain", "Delete"),
		appliers.Beta("spec.lifecycle.preDelete.markPodNotReady", true, false), appliers.Beta("spec.lifecycle.inPlaceUpdate.markPodNotReady", true),
		appliers.Beta("spec.lifecycle.preNormal.finalizersHandler", []any{"a/b"}, []any{"a/b", "c/d"}),
		appliers.Beta("spec.lifecycle.preDelete.labelsHandler.a", "b", "c"), appliers.Beta("spec.lifecycle.preDelete.labelsHandler.a/b", "b", "c"),
		appliers.Beta("spec.volumeClaimUpdateStrategy.type", "OnDelete", "OnPodRollingUpdate"),
		appliers.Beta("status.updatedReadyReplicas", int64(3), int64(4)), appliers.Beta("status.updatedAvailableReplicas", int64(3), int64(4)),
		appliers.Beta("status.volumeClaims", []any{map[string]any{"volumeClaimName": "data", "compatibleReplicas": int64(1), "compatibleReadyReplicas": int64(0)}}, []any{}),
	},
	"daemonsets.apps.kruise.io": {
		appliers.Beta("spec.scaleStrategy.partitionedScaling", true, false),
		appliers.Twins([]string{"status", "daemonSetHash"}, []string{"status", "updateRevision"}, "a", "b"),
		appliers.Both("spec.updateStrategy.rollingUpdate.partition", int64(3), "50%"), appliers.Both("spec.minReadySeconds", int64(3), int64(4)),
	},
	"sidecarsets.apps.kruise.io": {
		appliers.Twins([]string{"metadata", "labels", versionLabel}, []string{"spec", "customVersion"}, "v1", "v2", ""),
		appliers.Twins(nil, []string{"metadata", "labels", versionLabel}, "v1", "v2", ""),
		appliers.Both("spec.selector.matchLabels", map[string]any{"a": "b"}, map[string]any{"c": "d"}),
		{Name: "namespaces", Values: []any{"shop", "db", selects("team", "a"), selects("team", "b"), selects("kubernetes.io/metadata.name", "shop")}, Write: writesNamespaces},
	},
	"broadcastjobs.apps.kruise.io":    {appliers.Both("spec.parallelism", int64(3), "10%"), appliers.Both("spec.paused", true, false)},
	"advancedcronjobs.apps.kruise.io": {appliers.Both("spec.schedule", "0 * * * *", "1 * * * *"), appliers.Both("spec.template.imageListPullJobTemplate.spec.images", []any{"a"}, []any{"a", "b"})},
	"imagepulljobs.apps.kruise.io":    {appliers.Both("spec.image", "a", "b"), appliers.Both("spec.imagePullPolicy", "Always", "IfNotPresent")},
	"imagelistpulljobs.apps.kruise.io": {
		appliers.Both("spec.images", []any{"a"}, []any{"a", "b"}), appliers.Both("spec.imagePullPolicy", "Always", "IfNotPresent"),
	},
	"nodeimages.apps.kruise.io": {
		appliers.Both("spec.images.nginx.pullSecrets", []any{map[string]any{"namespace": "a", "name": "b", "mode": "batch"}}, []any{map[string]any{"namespace": "a", "name": "b"}}),
		appliers.Both("status.waiting", int64(3), int64(4)),
	},
}

// withV1beta1 are the CRDs of the areas that have such kinds, with v1beta1.
func withV1beta1(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	url := "https://hooks.example/convert"
	client := admissionregistrationv1.WebhookClientConfig{URL: &url}
	var all []*unstructured.Unstructured
	for _, area := range []struct {
		definitions []*unstructured.Unstructured
		serve       func(*unstructured.Unstructured, admissionregistrationv1.WebhookClientConfig) error
	}{
		{workloads.CRDs(), conversion.ServeV1beta1},
		{sidecar.CRDs(), sidecarconversion.ServeV1beta1},
		{distribution.CRDs(), distributionconversion.ServeV1beta1},
	} {
		for _, crd := range area.definitions {
			if err := area.serve(crd, client); err != nil {
				t.Fatal(err)
			}
			all = append(all, crd)
		}
	}
	return all
}

// storedAsV1beta1 are the same, with objects stored as v1beta1.
func storedAsV1beta1(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	all := withV1beta1(t)
	for _, crd := range all {
		for _, store := range []func(*unstructured.Unstructured) error{conversion.StoreV1beta1, sidecarconversion.StoreV1beta1, distributionconversion.StoreV1beta1} {
			if err := store(crd); err != nil {
				t.Fatal(err)
			}
		}
	}
	return all
}

// versionsOf are the names of the versions of a definition, that in which objects are stored with a star.
func versionsOf(crd *unstructured.Unstructured) (names []string) {
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	for _, item := range versions {
		version := item.(map[string]any)
		name := version["name"].(string)
		if version["storage"] == true {
			name += "*"
		}
		names = append(names, name)
	}
	return names
}

// Kinds have v1beta1 if the user asks for it, and no others do: what is not released is not served.
func TestWhoHasV1beta1(t *testing.T) {
	for _, crd := range definitions() {
		want := []string{"v1alpha1*"}
		if crd.GetName() == "statefulsets.apps.kruise.io" {
			want = []string{"v1alpha1", "v1beta1*"}
		}
		if diff := cmp.Diff(want, versionsOf(crd)); diff != "" {
			t.Errorf("%s as it comes (-want +got):\n%s", crd.GetName(), diff)
		}
	}
	for _, crd := range withV1beta1(t) {
		want := []string{"v1alpha1*"}
		switch {
		case crd.GetName() == "statefulsets.apps.kruise.io":
			want = []string{"v1alpha1", "v1beta1*"}
		case onDemand[crd.GetName()] != nil:
			want = []string{"v1alpha1*", "v1beta1"}
		}
		if diff := cmp.Diff(want, versionsOf(crd)); diff != "" {
			t.Errorf("%s on demand (-want +got):\n%s", crd.GetName(), diff)
		}
	}
	for _, crd := range storedAsV1beta1(t) {
		want := []string{"v1alpha1*"}
		if crd.GetName() == "statefulsets.apps.kruise.io" || onDemand[crd.GetName()] != nil {
			want = []string{"v1alpha1", "v1beta1*"}
		}
		if diff := cmp.Diff(want, versionsOf(crd)); diff != "" {
			t.Errorf("PF-5.3: %s in a cluster that stores v1beta1 (-want +got):\n%s", crd.GetName(), diff)
		}
	}
}

// What v1beta1 differs in from v1alpha1, and nothing else: all that the tables say, and no rule of theirs without a field.
func TestWhatV1beta1DiffersIn(t *testing.T) {
	const (
		schema = ".schema.openAPIV3Schema"
		rules  = schema + ".x-kubernetes-validations"
	)
	want := map[string][]string{
		"daemonsets.apps.kruise.io": {
			schema + ".properties.spec.properties.scaleStrategy",
			schema + ".properties.status.properties.daemonSetHash", schema + ".properties.status.properties.updateRevision",
		},
		"broadcastjobs.apps.kruise.io":     {},
		"advancedcronjobs.apps.kruise.io":  {},
		"sidecarsets.apps.kruise.io":       {schema + ".properties.spec.properties.customVersion", schema + ".properties.spec.properties.namespace", rules},
		"imagepulljobs.apps.kruise.io":     {".additionalPrinterColumns"},
		"imagelistpulljobs.apps.kruise.io": {},
		"nodeimages.apps.kruise.io":        {},
	}
	for _, crd := range withV1beta1(t) {
		if onDemand[crd.GetName()] == nil {
			continue
		}
		versions, _, err := unstructured.NestedSlice(crd.Object, "spec", "versions")
		if err != nil {
			t.Fatal(err)
		}
		got := differences("", versions[0], versions[1])
		got = slices.DeleteFunc(got, func(path string) bool { return path == ".name" || path == ".storage" })
		if diff := cmp.Diff(want[crd.GetName()], got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", crd.GetName(), diff)
		}
	}
}

// differences are the paths of the values that are not the same, sorted; lists are compared as a whole.
func differences(path string, a, b any) (found []string) {
	one, ok := a.(map[string]any)
	two, also := b.(map[string]any)
	if !ok || !also {
		if cmp.Equal(a, b) {
			return nil
		}
		return []string{path}
	}
	keys := maps.Clone(one)
	maps.Copy(keys, two)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		found = append(found, differences(path+"."+key, one[key], two[key])...)
	}
	return found
}

// anything draws an object that fits a schema; with some unknown fields if the schema keeps such, or everywhere.
func anything(t *rapid.T, s *schema.Structural, everywhere bool) any {
	text := func(values ...any) any { return rapid.SampledFrom(values).Draw(t, "text") }
	switch {
	case s.XIntOrString:
		return text(int64(0), int64(3), "30%", "5")
	case s.ValueValidation != nil && len(s.ValueValidation.Enum) > 0:
		return s.ValueValidation.Enum[rapid.IntRange(0, len(s.ValueValidation.Enum)-1).Draw(t, "value")].Object
	case s.ValueValidation != nil && s.ValueValidation.Format == "date-time":
		return "2024-02-29T12:00:00Z"
	case s.ValueValidation != nil && s.ValueValidation.Pattern != "":
		return text("", "v1")
	}
	switch s.Type {
	case "integer":
		return int64(rapid.Int32Range(0, 2147483647).Draw(t, "number"))
	case "number":
		return 1.5
	case "boolean":
		return rapid.Bool().Draw(t, "bool")
	case "string":
		return text("", "a", "shop", "a<b>&é")
	case "array":
		list := []any{}
		for range rapid.IntRange(0, 2).Draw(t, "items") {
			list = append(list, anything(t, s.Items, everywhere))
		}
		return list
	}
	return anyObject(t, s, everywhere)
}

func anyObject(t *rapid.T, s *schema.Structural, everywhere bool) map[string]any {
	out := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		required := s.ValueValidation != nil && slices.Contains(s.ValueValidation.Required, name)
		if required || rapid.Bool().Draw(t, "has "+name) {
			field := s.Properties[name]
			out[name] = anything(t, &field, everywhere)
		}
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil {
		for _, name := range rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a", "b.c/d", "é"}), rapid.ID[string]).Draw(t, "names") {
			out[name] = anything(t, s.AdditionalProperties.Structural, everywhere)
		}
	} else if s.XPreserveUnknownFields || everywhere {
		for _, name := range rapid.SliceOfDistinct(rapid.SampledFrom([]string{"newA", "new<", "newé"}), rapid.ID[string]).Draw(t, "unknown fields") {
			out[name] = rapid.SampledFrom([]any{nil, true, int64(-7), 1.25, "x", []any{int64(1)}, map[string]any{"spec": map[string]any{"a": nil}}}).Draw(t, name)
		}
	}
	return out
}

// draw draws an object of a kind in a version.
func draw(t *rapid.T, s *schema.Structural, kind, version string, everywhere bool) map[string]any {
	object := anyObject(t, s, everywhere)
	metadata := map[string]any{"name": "web"}
	if rapid.Bool().Draw(t, "labels") {
		metadata["labels"] = map[string]any{rapid.SampledFrom([]string{"a", versionLabel}).Draw(t, "label"): rapid.SampledFrom([]string{"", "v1", "v2"}).Draw(t, "value")}
	}
	if rapid.Bool().Draw(t, "annotations") {
		metadata["annotations"] = map[string]any{"a": "{"}
	}
	object["apiVersion"], object["kind"], object["metadata"] = "apps.kruise.io/"+version, kind, metadata
	return object
}

// An object means the same when it comes back from the other version, whatever it holds. The other version prunes nothing of
// it, and finds nothing wrong that was right.
func TestObjectsOfBothVersions(t *testing.T) {
	for _, crd := range withV1beta1(t) {
		convert := conversionOf(crd)
		if convert == nil {
			continue
		}
		definition := internal(t, crd)
		kind := definition.Spec.Names.Kind
		for from, to := range map[string]string{"v1alpha1": "v1beta1", "v1beta1": "v1alpha1"} {
			source, target := structural(t, definition, from), structural(t, definition, to)
			for _, everywhere := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s of %s, unknown fields everywhere: %t", kind, from, everywhere), rapid.MakeCheck(func(t *rapid.T) {
					first := draw(t, source, kind, from, everywhere)
					there := converted(t, convert, first, to)
					if !everywhere {
						pruned := runtime.DeepCopyJSON(there)
						pruning.Prune(pruned, target, true)
						if diff := cmp.Diff(there, pruned); diff != "" {
							t.Errorf("%s prunes (-before +after):\n%s", to, diff)
						}
					}
					back := converted(t, convert, there, from)
					for _, object := range []map[string]any{first, back} {
						if spec, is := object["spec"].(map[string]any); is && len(spec) == 0 {
							delete(object, "spec") // it says nothing
						}
					}
					if diff := cmp.Diff(first, back); diff != "" {
						t.Errorf("by way of\n%v\n(-want +got):\n%s", there, diff)
					}
				}))
			}
		}
	}
}

// converted is an object in another version.
func converted(t *rapid.T, convert func([]byte, string) ([]byte, error), object map[string]any, version string) (out map[string]any) {
	data, err := json.Marshal(object)
	if err == nil {
		data, err = convert(data, "apps.kruise.io/"+version)
	}
	if err == nil {
		err = utiljson.UnmarshalCaseSensitivePreserveInts(data, &out)
	}
	if err != nil {
		t.Fatalf("%v to %s: %v", object, version, err)
	}
	return out
}

// What the rules of v1beta1 say if they are not those of v1alpha1.
func TestRulesOfV1beta1(t *testing.T) {
	const (
		partition = "spec.updateStrategy.rollingUpdate.partition: must be a number of nodes, 0 or more, or a whole percentage up to 100%, is "
		version   = "spec.customVersion: may not be more than 63 bytes"
		template  = "spec.template: must hold jobTemplate, broadcastJobTemplate or imageListPullJobTemplate: jobs of other kinds, such as ImagePullJob, cannot be scheduled"
	)
	rolling := func(value string) string {
		return daemonSet("updateStrategy: {rollingUpdate: {partition: " + value + "}}")
	}
	cron := func(lines string) string {
		return "apiVersion: apps.kruise.io/v1beta1\nkind: AdvancedCronJob\nmetadata: {name: web}\nspec: {schedule: '0 * * * *', template: {" + lines + "}}"
	}
	log := func(lines string) string {
		return "apiVersion: apps.kruise.io/v1beta1\nkind: SidecarSet\nmetadata: {name: log}\nspec: {selector: {matchLabels: {a: b}}, containers: [{name: log, image: log:1}], " + lines + "}"
	}
	for _, test := range []struct{ name, resource, object, want string }{
		{"DS-V3: a number", "daemonsets", rolling("3"), ""},
		{"DS-V3: a percentage", "daemonsets", rolling("30%"), ""},
		{"DS-V3: all", "daemonsets", rolling("100%"), ""},
		{"DS-V3: more than all", "daemonsets", rolling("101%"), partition + "101%"},
		{"DS-V3: no percentage", "daemonsets", rolling("few"), partition + "few"},
		{"DS-V3: a number in quotes", "daemonsets", rolling("'3'"), partition + "3"},
		{"DS-V3: a negative number", "daemonsets", rolling("-1"), partition + "-1"},
		{"DS-V3: OnDelete needs no sense in the rest", "daemonsets", daemonSet("updateStrategy: {type: OnDelete, rollingUpdate: {partition: few}}"), ""},
		{"DS-V3: the other rules are there", "daemonsets", daemonSet("minReadySeconds: -1"), "spec.minReadySeconds: must be 0 or more"},
		{"ACJ-16: images", "advancedcronjobs", cron("imageListPullJobTemplate: {spec: {images: [a], completionPolicy: {}}}"), ""},
		{"ACJ-16: no template", "advancedcronjobs", cron(""), template},
		{"SCS-V7: a custom version", "sidecarsets", log("customVersion: v1.2_a"), ""},
		{"SCS-V7: one that no label can hold", "sidecarsets", log("customVersion: 'a b'"), "spec.customVersion: spec.customVersion in body should match '^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$'"},
		{"SCS-V7: one too long", "sidecarsets", log("customVersion: " + strings.Repeat("a", 64)), version},
		{"SCS-V7: a selector of namespaces", "sidecarsets", log("namespaceSelector: {matchLabels: {a: b}}"), ""},
		{"SCS-V7: the other rules are there", "sidecarsets", log("namespaceSelector: {}"), "spec.namespaceSelector: must not be empty: it would select everything"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var want []string
			if test.want != "" {
				want = []string{test.want}
			}
			check(t, want, newValidator(t, test.resource+".apps.kruise.io", "v1beta1").judge(t, test.object, ""))
		})
	}
}

// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	clonesets    = "clonesets.apps.kruise.io"
	statefulsets = "statefulsets.apps.kruise.io"
	cronjobs     = "advancedcronjobs.apps.kruise.io"
	jobs         = "broadcastjobs.apps.kruise.io"
	budgets      = "podunavailablebudgets.policy.kruise.io"
)

// object is a value in a CRD.
type object = map[string]any

// Every difference is named, with its place and with what was wanted and found.
func TestPlantedDifferences(t *testing.T) {
	const alpha, beta = "v1alpha1", "v1beta1"
	wanted, originals := contracts(t), embedded()
	for _, test := range []struct {
		name  string
		edits []edit
		want  []string
	}{
		{"a CRD is missing", []edit{{budgets, "", nil}}, []string{
			`podunavailablebudgets.policy.kruise.io: CRD: want "PodUnavailableBudget", found none`}},
		{"another group", []edit{{budgets, "spec/group", "apps.kruise.io"}}, []string{
			`podunavailablebudgets.policy.kruise.io: CRD: want "PodUnavailableBudget", found none`}},
		{"another kind", []edit{{clonesets, "spec/names/kind", "CloneSets"}}, []string{
			`clonesets.apps.kruise.io: kind: want "CloneSet", found "CloneSets"`}},
		{"another kind of lists", []edit{{clonesets, "spec/names/listKind", "CloneSets"}}, []string{
			`clonesets.apps.kruise.io: listKind: want "CloneSetList", found "CloneSets"`}},
		{"another singular", []edit{{clonesets, "spec/names/singular", "clone"}}, []string{
			`clonesets.apps.kruise.io: singular: want "cloneset", found "clone"`}},
		{"a lost short name", []edit{{statefulsets, "spec/names/shortNames/asts", nil}}, []string{
			`statefulsets.apps.kruise.io: shortNames: want ["sts","asts"], found ["sts"]`}},
		{"no short names", []edit{{clonesets, "spec/names/shortNames", nil}}, []string{
			`clonesets.apps.kruise.io: shortNames: want ["clone"], found none`}},
		{"a category more", []edit{{clonesets, "spec/names/categories", []any{"all"}}}, []string{
			`clonesets.apps.kruise.io: categories: want [], found ["all"]`}},
		{"another scope", []edit{{clonesets, "spec/scope", "Cluster"}}, []string{
			`clonesets.apps.kruise.io: scope: want "Namespaced", found "Cluster"`}},

		{"a lost version", []edit{{statefulsets, inVersion(beta, ""), nil}}, []string{
			`statefulsets.apps.kruise.io: version: want "v1beta1", found none`}},
		{"a version that is served no more", []edit{{statefulsets, inVersion(alpha, "served"), false}}, []string{
			`statefulsets.apps.kruise.io v1alpha1: served: want true, found false`}},
		{"another version is stored", []edit{{statefulsets, inVersion(alpha, "storage"), true}, {statefulsets, inVersion(beta, "storage"), false}}, []string{
			`statefulsets.apps.kruise.io v1alpha1: storage: want false, found true`,
			`statefulsets.apps.kruise.io v1beta1: storage: want true, found false`}},
		{"a lost subresource", []edit{{clonesets, inVersion(alpha, "subresources/status"), nil}}, []string{
			`clonesets.apps.kruise.io v1alpha1: subresource status: want true, found false`}},
		{"a lost subresource with paths", []edit{{clonesets, inVersion(alpha, "subresources/scale"), nil}}, []string{
			`clonesets.apps.kruise.io v1alpha1: subresource scale: want {"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas","labelSelectorPath":".status.labelSelector"}, found none`}},
		{"a subresource more", []edit{{jobs, inVersion(alpha, "subresources/scale"), object{"specReplicasPath": ".spec.a", "statusReplicasPath": ".status.a"}}}, []string{
			`broadcastjobs.apps.kruise.io v1alpha1: subresource scale: want none, found {"specReplicasPath":".spec.a","statusReplicasPath":".status.a","labelSelectorPath":""}`}},

		{"a lost column", []edit{{clonesets, inVersion(alpha, "additionalPrinterColumns/SELECTOR"), nil}}, []string{
			`clonesets.apps.kruise.io v1alpha1: column SELECTOR: want {"name":"SELECTOR","type":"string","format":"","jsonPath":".status.labelSelector","priority":1}, found none`}},
		{"a column more", []edit{{clonesets, inVersion(alpha, "additionalPrinterColumns/A"), object{"name": "A", "type": "string", "jsonPath": ".spec.a"}}}, []string{
			`clonesets.apps.kruise.io v1alpha1: column A: want none, found {"name":"A","type":"string","format":"","jsonPath":".spec.a","priority":0}`}},
		{"another column", []edit{{clonesets, inVersion(alpha, "additionalPrinterColumns/SELECTOR/priority"), int64(0)}}, []string{
			`clonesets.apps.kruise.io v1alpha1: column SELECTOR: want {"name":"SELECTOR","type":"string","format":"","jsonPath":"status.labelSelector","priority":1}, found {"name":"SELECTOR","type":"string","format":"","jsonPath":"status.labelSelector","priority":0}`}},
		{"another order of columns", []edit{
			{jobs, inVersion(alpha, "additionalPrinterColumns/AGE"), nil}, {jobs, inVersion(alpha, "additionalPrinterColumns/Failed"), nil},
			{jobs, inVersion(alpha, "additionalPrinterColumns/AGE"), object{"name": "AGE", "type": "date", "jsonPath": ".metadata.creationTimestamp"}},
			{jobs, inVersion(alpha, "additionalPrinterColumns/Failed"), object{"name": "Failed", "type": "integer", "jsonPath": ".status.failed"}}}, []string{
			`broadcastjobs.apps.kruise.io v1alpha1: order of columns: want ["Desired","Active","Succeeded","Failed","AGE"], found ["Desired","Active","Succeeded","AGE","Failed"]`}},

		{"a lost field", []edit{{clonesets, inSchema(alpha, ".spec.replicas"), nil}}, []string{
			`clonesets.apps.kruise.io v1alpha1 .spec.replicas: field: want {"format":"int32","type":"integer"}, found none`}},
		{"a lost list", []edit{{clonesets, inSchema(alpha, ".spec.scaleStrategy.podsToDelete"), nil}}, []string{
			`clonesets.apps.kruise.io v1alpha1 .spec.scaleStrategy.podsToDelete: field: want {"type":"array"}, found none`,
			`clonesets.apps.kruise.io v1alpha1 .spec.scaleStrategy.podsToDelete[]: field: want {"type":"string"}, found none`}},
		{"another type", []edit{{statefulsets, inSchema(beta, ".spec.replicas", "type"), "string"}}, []string{
			`statefulsets.apps.kruise.io v1beta1 .spec.replicas: type: want "integer", found "string"`}},
		{"another type in a list", []edit{{clonesets, inSchema(alpha, ".spec.scaleStrategy.podsToDelete[]", "type"), "integer"}}, []string{
			`clonesets.apps.kruise.io v1alpha1 .spec.scaleStrategy.podsToDelete[]: type: want "string", found "integer"`}},
		{"another type in a map", []edit{{clonesets, inSchema(alpha, ".spec.lifecycle.preDelete.labelsHandler{}", "type"), "integer"}}, []string{
			`clonesets.apps.kruise.io v1alpha1 .spec.lifecycle.preDelete.labelsHandler{}: type: want "string", found "integer"`}},
		{"another format", []edit{{clonesets, inSchema(alpha, ".spec.replicas", "format"), "int64"}}, []string{
			`clonesets.apps.kruise.io v1alpha1 .spec.replicas: format: want "int32", found "int64"`}},
		{"another default", []edit{{clonesets, inSchema(alpha, ".spec.replicas", "default"), int64(3)}}, []string{
			`clonesets.apps.kruise.io v1alpha1 .spec.replicas: default: want none, found 3`}},
		{"an enum value is gone", []edit{{cronjobs, inSchema(alpha, ".spec.concurrencyPolicy", "enum/Replace"), nil}}, []string{
			`advancedcronjobs.apps.kruise.io v1alpha1 .spec.concurrencyPolicy: enum: want ["Allow","Forbid","Replace"], found ["Allow","Forbid"]`}},
		{"an enum more", []edit{{clonesets, inSchema(alpha, ".spec.updateStrategy.type", "enum"), []any{"ReCreate"}}}, []string{
			`clonesets.apps.kruise.io v1alpha1 .spec.updateStrategy.type: enum: want none, found ["ReCreate"]`}},
		{"a bound less", []edit{{cronjobs, inSchema(alpha, ".spec.schedule", "minLength"), nil}}, []string{
			`advancedcronjobs.apps.kruise.io v1alpha1 .spec.schedule: minLength: want 0, found none`}},
		{"a required field more", []edit{{clonesets, inSchema(alpha, ".spec", "required/replicas"), "replicas"}}, []string{
			`clonesets.apps.kruise.io v1alpha1 .spec.replicas: required: want none, found true`}},
		{"a required field less", []edit{{clonesets, inSchema(alpha, ".spec", "required/selector"), nil}}, []string{
			`clonesets.apps.kruise.io v1alpha1 .spec.selector: required: want true, found none`}},
		{"unknown fields are dropped", []edit{{clonesets, inSchema(alpha, ".spec.template", "x-kubernetes-preserve-unknown-fields"), nil}}, []string{
			`clonesets.apps.kruise.io v1alpha1 .spec.template: x-kubernetes-preserve-unknown-fields: want true, found none`}},
		{"a rule of a field", []edit{{clonesets, inSchema(alpha, ".spec.replicas", "x-kubernetes-validations"), []any{object{"rule": "self == 0"}}}}, []string{
			`clonesets.apps.kruise.io v1alpha1 .spec.replicas: x-kubernetes-validations: want none, found [{"rule":"self == 0"}]`}},
		{"in several CRDs", []edit{{jobs, "spec/scope", "Cluster"}, {cronjobs, "spec/scope", "Cluster"}, {budgets, "", nil}}, []string{
			`advancedcronjobs.apps.kruise.io: scope: want "Namespaced", found "Cluster"`,
			`broadcastjobs.apps.kruise.io: scope: want "Namespaced", found "Cluster"`,
			`podunavailablebudgets.policy.kruise.io: CRD: want "PodUnavailableBudget", found none`}},

		{"allowed: a version more", []edit{{jobs, inVersion(beta, ""), object{"name": beta, "served": true}}}, nil},
		{"allowed: a field more", []edit{{clonesets, inSchema(alpha, ".spec.more"), object{"type": "string"}}}, nil},
		{"allowed: another description", []edit{{clonesets, inSchema(alpha, ".spec.replicas", "description"), "Another."}}, nil},
		{"allowed: a rule of the whole object", []edit{{clonesets, inVersion(alpha, "schema/openAPIV3Schema/x-kubernetes-validations"), []any{object{"rule": "true"}}}}, nil},
		{"allowed: a selector that is merged by key", []edit{{clonesets, inSchema(alpha, ".spec.selector", "x-kubernetes-map-type"), nil}}, nil},
		{"allowed: the kind of lists is left to the API server", []edit{{clonesets, "spec/names/listKind", nil}}, nil},
		{"allowed: a JSONPath without a dot", []edit{{clonesets, inVersion(alpha, "additionalPrinterColumns/SELECTOR/jsonPath"), "status.labelSelector"}}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			crds := copies(originals)
			for _, edit := range test.edits {
				crds = edit.apply(t, crds)
			}
			found, err := contractsOf(crds)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, differences(wanted, found)); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
		})
	}
}

// SPDX-License-Identifier: Apache-2.0

package budget_test

import (
	"testing"

	"github.com/podwright/podwright/availability/budget"
	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/testing/conformance/verdicts"
)

// Every field of the spec, with the values that never do anything or do harm, and what admission says of them. (PUB-41)
func TestVerdicts(t *testing.T) {
	const (
		target = `{"selector":null,"targetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"web"}}`
		fixed  = "\nspec: Forbidden: selector and targetRef cannot be modified"
		needs  = "Required value: needs apiVersion, kind and name"
		share  = "must be a number such as 3, at least 0, or a percentage such as 30%, at most 100%"
	)
	verdicts.Check(t, verdicts.Subject[v1alpha1.PodUnavailableBudget]{
		Valid: `
metadata: {namespace: shop, name: web}
spec: {selector: {matchLabels: {app: web}}, maxUnavailable: 1}`,
		Create: budget.ValidateCreate, Update: budget.ValidateUpdate, Unasked: true,
	}, verdicts.Fields{
		"selector": {Works: "one that selects no pod protects those that come", Cases: []verdicts.Case{
			{Value: `{}`, Want: "spec.selector: Invalid value: \"{}\": must not be empty", Change: "spec.selector: Invalid value" + fixed},
			{Value: `{"matchLabels":{"a":"b"}}`, With: target, Want: "spec: Forbidden: give selector or targetRef, and not both", Change: "spec: Forbidden: give selector" + fixed},
			{Value: `{"matchExpressions":[{"key":"a","operator":"In"}]}`, Want: "spec.selector.matchExpressions[0].values: Required value", Change: "spec.selector.matchExpressions[0].values: Required value" + fixed},
			{Value: `null`, Want: "spec: Forbidden: give selector or targetRef, and not both", Change: "spec: Forbidden: give selector" + fixed}}},
		"targetRef.apiVersion": {Cases: []verdicts.Case{{Value: `""`, With: target, Want: "spec.targetRef.apiVersion: " + needs, Change: "spec.targetRef.apiVersion: " + needs + fixed},
			{Value: `"a/b/c"`, With: target, Want: "spec.targetRef.apiVersion: Invalid value: \"a/b/c\"", Change: "spec.targetRef.apiVersion: Invalid" + fixed}}},
		"targetRef.kind": {Works: "of a kind that is not served or has no scale a condition says so", Cases: []verdicts.Case{{Value: `""`, With: target, Want: "spec.targetRef.kind: " + needs, Change: "spec.targetRef.kind: " + needs + fixed}}},
		"targetRef.name": {Works: "a workload that is not there may come", Cases: []verdicts.Case{{Value: `""`, With: target, Want: "spec.targetRef.name: " + needs, Change: "spec.targetRef.name: " + needs + fixed}}},
		"maxUnavailable": {Works: "0 denies all and 100% allows all, as users may want", Cases: []verdicts.Case{{Value: `0`}, {Value: `"100%"`},
			{Value: `-1`, Want: "spec.maxUnavailable: Invalid value: \"-1\": " + share}, {Value: `"101%"`, Want: "spec.maxUnavailable: Invalid value: \"101%\": " + share},
			{Value: `"5"`, Want: "spec.maxUnavailable: Invalid value: \"5\": " + share}, {Value: `null`, Want: "spec: Forbidden: give maxUnavailable or minAvailable, and not both"}}},
		"minAvailable": {Cases: []verdicts.Case{{Value: `"0%"`, With: `{"maxUnavailable":null}`}, {Value: `2147483647`, With: `{"maxUnavailable":null}`}, // denies all
			{Value: `-1`, With: `{"maxUnavailable":null}`, Want: "spec.minAvailable: Invalid value: \"-1\": " + share, Change: "spec.minAvailable: Invalid"},
			{Value: `1`, Want: "spec: Forbidden: give maxUnavailable or minAvailable, and not both"}}},
	})
}

// The annotation that says how many pods there should be is a number of pods: a negative one allowed everything. (PUB-41)
func TestProtectedTotals(t *testing.T) {
	for value, right := range map[string]bool{"0": true, "10": true, "-1": false, "ten": false, "": false, "2147483648": false} {
		b := &v1alpha1.PodUnavailableBudget{}
		b.Annotations = map[string]string{v1alpha1.PubProtectTotalReplicasAnnotation: value}
		found := false
		for _, err := range budget.ValidateCreate(b) {
			found = found || err.Field == "metadata.annotations["+v1alpha1.PubProtectTotalReplicasAnnotation+"]" && err.BadValue == value
		}
		if found == right {
			t.Errorf("%q: refused %t", value, found)
		}
		stored := b.DeepCopy()
		for _, err := range budget.ValidateUpdate(b, stored) {
			if value == "-1" && err.BadValue == value {
				t.Errorf("%q, which is stored: %v", value, err)
			}
		}
	}
}

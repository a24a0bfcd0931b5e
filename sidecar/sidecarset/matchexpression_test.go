// SPDX-License-Identifier: Apache-2.0

package sidecarset_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podwright/podwright/sidecar/sidecarset"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

func TestMatchExpression(t *testing.T) {
	const app = `has(object.metadata.labels) && "app" in object.metadata.labels && object.metadata.labels["app"] in `
	for _, test := range []struct {
		name  string
		specs []string
		want  string
	}{
		{"SCS-W9: none", nil, "false"},
		{"SCS-W9: one", []string{"{}"}, `(` + app + `["web"])`},
		{"SCS-W9: several values", []string{"{}", "{selector: {matchLabels: {app: db}}}", "{selector: {matchExpressions: [{key: app, operator: In, values: [db, cache]}]}}"}, `(` + app + `["cache", "db", "web"])`},
		{"SCS-W9: several keys", []string{"{}", "{selector: {matchLabels: {tier: front}}}"},
			`(` + app + `["web"]) || (has(object.metadata.labels) && "tier" in object.metadata.labels && object.metadata.labels["tier"] in ["front"])`},
		{"SCS-W9: a namespace", []string{"{namespace: shop}"}, `(request.namespace == "shop" && ` + app + `["web"])`},
		{"SCS-W9: any label in a namespace", []string{"{namespace: shop, selector: {matchExpressions: [{key: app, operator: Exists}]}}"}, `(request.namespace == "shop" && true)`},
		{"SCS-W9: any label", []string{"{}", "{selector: {matchExpressions: [{key: app, operator: DoesNotExist}]}}"}, "true"},
		{"SCS-W9: paused", []string{"{injectionStrategy: {paused: true}}"}, "false"},
		{"SCS-W9: nothing is selected", []string{"{selector: {}}"}, "false"},
	} {
		t.Run(test.name, func(t *testing.T) {
			all := []*v1alpha1.SidecarSet{nil}
			for i, spec := range test.specs {
				all = append(all, setOf(t, fmt.Sprint("set-", i), spec))
			}
			if diff := cmp.Diff(test.want, sidecarset.MatchExpression(all)); diff != "" {
				t.Errorf("expression (-want +got):\n%s", diff)
			}
		})
	}
	var many []*v1alpha1.SidecarSet
	for i := range 501 {
		many = append(many, setOf(t, "many", fmt.Sprintf("{selector: {matchLabels: {app: app-%d}}}", i)))
	}
	if got := sidecarset.MatchExpression(many[:500]); got == "true" {
		t.Error("SCS-W9: 500 labels are too many")
	}
	if got := sidecarset.MatchExpression(many); got != "true" {
		t.Errorf("SCS-W9: 501 labels are told apart: %.100s", got)
	}
}

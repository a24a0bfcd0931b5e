// SPDX-License-Identifier: Apache-2.0

package crds

import (
	"strings"
	"testing"

	"github.com/podwright/podwright/availability/budget"
	"github.com/podwright/podwright/availability/v1alpha1"
)

// podUnavailableBudget is a PodUnavailableBudget as YAML with these lines in its spec.
func podUnavailableBudget(lines string) string {
	return "apiVersion: policy.kruise.io/v1alpha1\nkind: PodUnavailableBudget\nmetadata: {name: demo, namespace: shop}\nspec:\n  " +
		strings.ReplaceAll(lines, "\n", "\n  ")
}

// PUB-22: the rules of the definition and the webhook refuse the same.
func TestPodUnavailableBudget(t *testing.T) {
	v := newValidator(t, "podunavailablebudgets.policy.kruise.io", "v1alpha1")
	const (
		app    = "selector: {matchLabels: {app: web}}"
		web    = "targetRef: {apiVersion: apps/v1, kind: Deployment, name: web}"
		number = ": must be a number such as 3, at least 0, or a percentage such as 30%, at most 100%"
	)
	for _, test := range []struct{ name, spec, want string }{
		{"a selector", app + "\nmaxUnavailable: 1", ""},
		{"a target", web + "\nminAvailable: 80%", ""},
		{"nothing unavailable", app + "\nmaxUnavailable: 0", ""},
		{"all", app + "\nmaxUnavailable: 100%", ""},
		{"neither selector nor target", "maxUnavailable: 1", "spec: give selector or targetRef, and not both"},
		{"both", app + "\n" + web + "\nmaxUnavailable: 1", "spec: give selector or targetRef, and not both"},
		{"neither number", app, "spec: give maxUnavailable or minAvailable, and not both"},
		{"both numbers", app + "\nmaxUnavailable: 1\nminAvailable: 1", "spec: give maxUnavailable or minAvailable, and not both"},
		{"an empty selector", "selector: {}\nmaxUnavailable: 1", "spec.selector: must not be empty: it would select everything"},
		{"an operator", "selector: {matchExpressions: [{key: app, operator: Is}]}\nmaxUnavailable: 1", "spec.selector.matchExpressions: every operator must be In or NotIn with values, or Exists or DoesNotExist without values"},
		{"a target without a name", "targetRef: {apiVersion: apps/v1, kind: Deployment}\nmaxUnavailable: 1", "spec.targetRef: needs apiVersion, kind and name"},
		{"a target of no version", "targetRef: {apiVersion: a/b/c, kind: Deployment, name: web}\nmaxUnavailable: 1", "spec.targetRef.apiVersion: must be VERSION or GROUP/VERSION"},
		{"a negative number", app + "\nmaxUnavailable: -1", "spec.maxUnavailable" + number},
		{"more than all", app + "\nmaxUnavailable: 101%", "spec.maxUnavailable" + number},
		{"without %", app + "\nminAvailable: '5'", "spec.minAvailable" + number},
		{"a negative percentage", app + "\nminAvailable: -5%", "spec.minAvailable" + number},
	} {
		t.Run(test.name, func(t *testing.T) {
			var want []string
			if test.want != "" {
				want = []string{test.want}
			}
			object := podUnavailableBudget(test.spec)
			got := v.judge(t, object, "")
			check(t, want, got)
			agree(t, object, got, budget.ValidateCreate(read[v1alpha1.PodUnavailableBudget](t, object)))
		})
	}
	check(t, []string{"spec: a PodUnavailableBudget needs a spec with selector or targetRef, and maxUnavailable or minAvailable"},
		v.judge(t, "{apiVersion: policy.kruise.io/v1alpha1, kind: PodUnavailableBudget, metadata: {name: demo}}", ""))
	old := podUnavailableBudget(app + "\nmaxUnavailable: 1")
	check(t, nil, v.judge(t, podUnavailableBudget(app+"\nminAvailable: 2"), old))
	for _, changed := range []string{web, "selector: {matchLabels: {app: db}}"} {
		check(t, []string{"spec: selector and targetRef cannot be modified"}, v.judge(t, podUnavailableBudget(changed+"\nmaxUnavailable: 1"), old))
	}
}

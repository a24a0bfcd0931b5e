// SPDX-License-Identifier: Apache-2.0

package crds

import (
	"strings"
	"testing"

	"github.com/podwright/podwright/distribution/spread"
	"github.com/podwright/podwright/distribution/v1alpha1"
)

// workloadSpread is a WorkloadSpread as YAML with these lines in its spec.
func workloadSpread(lines string) string {
	return "apiVersion: apps.kruise.io/v1alpha1\nkind: WorkloadSpread\nmetadata: {name: demo, namespace: shop}\nspec:\n  " +
		strings.ReplaceAll(lines, "\n", "\n  ")
}

// WS-21: the rules of the definition and the webhook refuse the same.
func TestWorkloadSpread(t *testing.T) {
	v := newValidator(t, "workloadspreads.apps.kruise.io", "v1alpha1")
	const (
		web    = "targetRef: {apiVersion: apps/v1, kind: Deployment, name: web}\n"
		db     = "targetRef: {apiVersion: apps.kruise.io/v1beta1, kind: StatefulSet, name: db}\n"
		three  = web + "subsets: [{name: a}, {name: b}, {name: c}]\n"
		target = "spec.targetRef: must be a CloneSet or StatefulSet of apps.kruise.io, a Deployment, ReplicaSet or StatefulSet of apps, a Job of batch, or of a kind that the white list names"
		number = "spec.subsets: every maxReplicas must be a number such as 3, at least 0, or a percentage such as 30%, at most 100%"
		time   = "spec.scheduleStrategy.adaptive.rescheduleCriticalSeconds: must be at least 0, and at most 3600 with several subsets"
	)
	for _, test := range []struct{ name, spec, want string }{
		{"numbers", web + "subsets: [{name: a, maxReplicas: 5}, {name: b}]", ""},
		{"percentages and the rest", web + "subsets: [{name: a, maxReplicas: 40%}, {name: b, maxReplicas: 20%}, {name: c}]", ""},
		{"percentages of all", web + "subsets: [{name: a, maxReplicas: 40%}, {name: b, maxReplicas: 60%}]", ""},
		{"nothing in one", web + "subsets: [{name: a, maxReplicas: 0}, {name: b}]", ""},
		{"everything of a subset", web + `subsets:
- name: a
  requiredNodeSelectorTerm: {matchExpressions: [{key: zone, operator: In, values: [a]}]}
  preferredNodeSelectorTerms: [{weight: 1, preference: {matchExpressions: [{key: zone, operator: In, values: [a]}]}}]
  tolerations: [{key: k, operator: Exists}]
  patch: {metadata: {labels: {subset: a}}, spec: {containers: [{name: main, env: [{name: ZONE, value: a}]}]}}`, ""},
		{"a CloneSet", "targetRef: {apiVersion: apps.kruise.io/v1alpha1, kind: CloneSet, name: web}\nsubsets: [{name: a}]", ""},
		{"a Job", "targetRef: {apiVersion: batch/v1, kind: Job, name: web}\nsubsets: [{name: a}]", ""},
		{"a StatefulSet", db + "subsets: [{name: a, maxReplicas: 5}, {name: b}]", ""},
		{"adaptive", three + "scheduleStrategy: {type: Adaptive, adaptive: {rescheduleCriticalSeconds: 3600}}", ""},
		{"an empty type", three + "scheduleStrategy: {type: ''}", ""},
		{"no target", "subsets: [{name: a}]", "spec.targetRef: "},
		{"a target without a name", "targetRef: {apiVersion: apps/v1, kind: Deployment, name: ''}\nsubsets: [{name: a}]", "spec.targetRef: needs apiVersion, kind and name"},
		{"another kind", "targetRef: {apiVersion: apps/v1, kind: Pod, name: web}\nsubsets: [{name: a}]", target},
		{"another kind of batch", "targetRef: {apiVersion: batch/v1, kind: CloneSet, name: web}\nsubsets: [{name: a}]", target},
		{"a filter", web + "subsets: [{name: a}]\ntargetFilter: {selector: {matchLabels: {role: worker}}, replicasPathList: ['', spec.roles.0.replicas]}", ""},
		{"a selector that cannot be read", web + "subsets: [{name: a}]\ntargetFilter: {selector: {matchExpressions: [{key: role, operator: In}]}}",
			"spec.targetFilter.selector.matchExpressions: every operator must be In or NotIn with values, or Exists or DoesNotExist without values"},
		{"another group", "targetRef: {apiVersion: apps.kruise.io/v1, kind: Deployment, name: web}\nsubsets: [{name: a}]", target},
		{"no subsets", web + "subsets: []", "spec.subsets: there must be at least one"},
		{"no name", web + "subsets: [{name: ''}]", "spec.subsets: every subset needs a name"},
		{"a negative number", web + "subsets: [{name: a, maxReplicas: -1}]", number},
		{"without %", web + "subsets: [{name: a, maxReplicas: '5'}, {name: b}]", number},
		{"both types", web + "subsets: [{name: a, maxReplicas: 5}, {name: b, maxReplicas: 20%}, {name: c}]", "spec.subsets: every maxReplicas must be a number, or every one a percentage"},
		{"a percentage of a StatefulSet", db + "subsets: [{name: a, maxReplicas: 5%}, {name: b}]", "spec.subsets: maxReplicas of a StatefulSet must be a number: its pods are assigned by their ordinals"},
		{"adaptive without the type", three + "scheduleStrategy: {adaptive: {}}", "spec.scheduleStrategy.adaptive: is for the type Adaptive alone"},
		{"adaptive without a last resort", web + "subsets: [{name: a}, {name: b, maxReplicas: 5}]\nscheduleStrategy: {type: Adaptive, adaptive: {}}", "spec.subsets: with scheduleStrategy.adaptive the last subset must have no maxReplicas: it takes the pods that fit nowhere else"},
		{"too late", three + "scheduleStrategy: {type: Adaptive, adaptive: {rescheduleCriticalSeconds: 3601}}", time},
		{"before", three + "scheduleStrategy: {type: Adaptive, adaptive: {rescheduleCriticalSeconds: -1}}", time},
		{"another type", three + "scheduleStrategy: {type: Some}", `spec.scheduleStrategy.type: supported values: "Adaptive", "Fixed", ""`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var want []string
			if test.want != "" {
				want = []string{test.want}
			}
			object := workloadSpread(test.spec)
			got := v.judge(t, object, "")
			check(t, want, got)
			agree(t, object, got, spread.ValidateCreate(read[v1alpha1.WorkloadSpread](t, object)))
		})
	}
	check(t, []string{"spec: a WorkloadSpread needs a spec with targetRef and subsets"},
		v.judge(t, "{apiVersion: apps.kruise.io/v1alpha1, kind: WorkloadSpread, metadata: {name: demo}}", ""))
	old := workloadSpread(db + "subsets: [{name: a}]")
	check(t, nil, v.judge(t, strings.ReplaceAll(old, "v1beta1", "v1alpha1"), old))
	for _, changed := range []string{strings.ReplaceAll(old, "name: db", "name: web"), strings.ReplaceAll(old, "apps.kruise.io/v1beta1", "apps/v1")} {
		check(t, []string{"spec.targetRef: group, kind and name cannot be modified"}, v.judge(t, changed, old))
	}
}

// Which kinds the white list names, and how a path is written, only the webhook says.
func TestWorkloadSpreadRulesThatOnlyTheWebhookHas(t *testing.T) {
	v := newValidator(t, "workloadspreads.apps.kruise.io", "v1alpha1")
	for _, target := range []string{"{apiVersion: apps/v1, kind: DaemonSet, name: web}", "{apiVersion: argoproj.io/v1alpha1, kind: Rollout, name: web}", "{apiVersion: example.com/v1, kind: StatefulSet, name: web}"} {
		object := workloadSpread("targetRef: " + target + "\nsubsets: [{name: a, maxReplicas: 5%}, {name: b}]")
		check(t, nil, v.judge(t, object, ""))
		if errs := spread.ValidateCreate(read[v1alpha1.WorkloadSpread](t, object)); len(errs) != 1 || errs[0].Field != "spec.targetRef" {
			t.Errorf("WS-21: %s without a white list: %v", target, errs)
		}
	}
	object := workloadSpread("targetRef: {apiVersion: apps/v1, kind: Deployment, name: web}\nsubsets: [{name: a}]\ntargetFilter: {replicasPathList: [spec..replicas]}")
	check(t, nil, v.judge(t, object, ""))
	if errs := spread.ValidateCreate(read[v1alpha1.WorkloadSpread](t, object)); len(errs) != 1 || errs[0].Field != "spec.targetFilter.replicasPathList[0]" {
		t.Errorf("WS-21: a path with an empty part: %v", errs)
	}
}

// SPDX-License-Identifier: Apache-2.0

package crds

import (
	"fmt"
	"strings"
	"testing"
)

// statefulSetVersions are the versions of StatefulSet; a case about what both
// have is asked of both.
var statefulSetVersions = []string{"v1alpha1", "v1beta1"}

// statefulSet is a StatefulSet as YAML, made like a cloneSet.
func statefulSet(version, lines string) string {
	return strings.Replace(cloneSet(lines), "v1alpha1\nkind: CloneSet", version+"\nkind: StatefulSet", 1)
}

// rolling is an update strategy with these fields of rollingUpdate, in the
// management policy that takes all of them.
func rolling(fields string) string {
	return "podManagementPolicy: Parallel\nupdateStrategy: {rollingUpdate: {" + fields + "}}"
}

const (
	rollingUpdate   = "spec.updateStrategy.rollingUpdate"
	wantUnavailable = ".maxUnavailable: must be a number of pods of 1 or more, or a whole percentage of 1% or more, is "
	wantParallel    = ".maxUnavailable: must be the number 1 unless podManagementPolicy is Parallel: pods in order are unavailable one at a time"
	priority        = rollingUpdate + ".unorderedUpdate.priorityStrategy"
	readySeconds    = rollingUpdate + ".minReadySeconds: must be between 0 and 300"
)

func TestStatefulSet(t *testing.T) {
	for _, version := range statefulSetVersions {
		v := newValidator(t, "statefulsets.apps.kruise.io", version)
		for _, test := range []struct {
			name, spec, want string // no want: accepted
		}{
			{"the least", "", ""},
			{"a template that the schema does not know", "template: {spec: {futureField: {a: 1}}}", ""},
			{"claims that the schema does not know", "volumeClaimTemplates: [{spec: {futureField: {a: 1}}}]", ""},

			{"replicas: 0", "replicas: 0", ""},
			{"replicas: negative", "replicas: -1", "spec.replicas: must be 0 or more"},

			{"selector: by expression", "selector: {matchExpressions: [{key: app, operator: In, values: [web]}, {key: beta, operator: DoesNotExist}]}", ""},
			{"selector: empty", "selector: {}", emptySelector},
			{"selector: unknown operator", "selector: {matchExpressions: [{key: app, operator: Is, values: [web]}]}", operators},
			{"selector: In without values", "selector: {matchExpressions: [{key: app, operator: In}]}", operators},

			{"podManagementPolicy: OrderedReady", "podManagementPolicy: OrderedReady", ""},
			{"podManagementPolicy: Parallel", "podManagementPolicy: Parallel", ""},
			{"podManagementPolicy: empty is the default", "podManagementPolicy: ''", ""},
			{"podManagementPolicy: unknown", "podManagementPolicy: Random", "spec.podManagementPolicy: must be OrderedReady or Parallel, is Random"},

			{"type: RollingUpdate", "updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 1}}", ""},
			{"type: empty is the default", "updateStrategy: {type: '', rollingUpdate: {partition: 1}}", ""},
			{"type: OnDelete", "updateStrategy: {type: OnDelete}", ""},
			{"type: OnDelete with rollingUpdate", "updateStrategy: {type: OnDelete, rollingUpdate: {}}", rollingUpdate + ": must be absent with the type OnDelete, which updates no pods: remove it or use RollingUpdate"},
			{"type: unknown", "updateStrategy: {type: InPlace}", "spec.updateStrategy.type: must be RollingUpdate or OnDelete, is InPlace"},

			{"partition: 0", rolling("partition: 0"), ""},
			{"STS-E7: partition beyond the replicas", "replicas: 3\n" + rolling("partition: 7"), ""},
			{"partition: negative", rolling("partition: -1"), rollingUpdate + ".partition: must be 0 or more"},
			{"partition: no percentage", rolling("partition: 10%"), rollingUpdate + `.partition: ` + rollingUpdate + `.partition in body must be of type integer: "string"`},

			{"maxUnavailable: a number", rolling("maxUnavailable: 3"), ""},
			{"maxUnavailable: a percentage", rolling("maxUnavailable: 30%"), ""},
			{"maxUnavailable: the least percentage", rolling("maxUnavailable: 1%"), ""},
			{"maxUnavailable: a number as a string", rolling("maxUnavailable: '30'"), ""},
			{"STS-E2: maxUnavailable 0", rolling("maxUnavailable: 0"), rollingUpdate + wantUnavailable + "0"},
			{"STS-E2: maxUnavailable 0%", rolling("maxUnavailable: 0%"), rollingUpdate + wantUnavailable + "0%"},
			{"maxUnavailable: negative", rolling("maxUnavailable: -1"), rollingUpdate + wantUnavailable + "-1"},
			{"maxUnavailable: a negative percentage", rolling("maxUnavailable: -1%"), rollingUpdate + wantUnavailable + "-1%"},
			{"maxUnavailable: no number", rolling("maxUnavailable: few"), rollingUpdate + wantUnavailable + "few"},
			{"STS-E1: maxUnavailable 1 in order", "updateStrategy: {rollingUpdate: {maxUnavailable: 1}}", ""},
			{"STS-E1: maxUnavailable 2 in order", "podManagementPolicy: OrderedReady\nupdateStrategy: {rollingUpdate: {maxUnavailable: 2}}", rollingUpdate + wantParallel},
			{"STS-E1: maxUnavailable 10% in order", "updateStrategy: {rollingUpdate: {maxUnavailable: 10%}}", rollingUpdate + wantParallel},

			{"podUpdatePolicy: ReCreate", rolling("podUpdatePolicy: ReCreate"), ""},
			{"podUpdatePolicy: InPlaceIfPossible", rolling("podUpdatePolicy: InPlaceIfPossible"), ""},
			{"podUpdatePolicy: InPlaceOnly", rolling("podUpdatePolicy: InPlaceOnly"), ""},
			{"podUpdatePolicy: empty is the default", rolling("podUpdatePolicy: ''"), ""},
			{"podUpdatePolicy: unknown", rolling("podUpdatePolicy: Recreate"), rollingUpdate + ".podUpdatePolicy: must be ReCreate, InPlaceIfPossible or InPlaceOnly, is Recreate"},

			{"paused", rolling("paused: true"), ""},
			{"grace period: not validated", rolling("inPlaceUpdateStrategy: {gracePeriodSeconds: -1}"), ""},

			{"unorderedUpdate: Parallel", rolling("unorderedUpdate: {}"), ""},
			{"unorderedUpdate: in order", "updateStrategy: {rollingUpdate: {unorderedUpdate: {}}}", rollingUpdate + ".unorderedUpdate: needs podManagementPolicy Parallel"},

			{"priority: weights", rolling("unorderedUpdate: {priorityStrategy: {weightPriority: [{weight: 0, matchSelector: {matchLabels: {a: b}}}, {weight: 100, matchSelector: {matchExpressions: [{key: a, operator: Exists}]}}]}}"), ""},
			{"priority: order", rolling("unorderedUpdate: {priorityStrategy: {orderPriority: [{orderedKey: a}]}}"), ""},
			{"priority: both, one of them empty", rolling("unorderedUpdate: {priorityStrategy: {orderPriority: [{orderedKey: a}], weightPriority: []}}"), ""},
			{"priority: both", rolling("unorderedUpdate: {priorityStrategy: {orderPriority: [{orderedKey: a}], weightPriority: [{weight: 1, matchSelector: {matchLabels: {a: b}}}]}}"), priority + ": must hold weightPriority or orderPriority, not both"},
			{"priority: weight too large", rolling("unorderedUpdate: {priorityStrategy: {weightPriority: [{weight: 101, matchSelector: {matchLabels: {a: b}}}]}}"), priority + ".weightPriority: every weight must be between 0 and 100"},
			{"priority: weight too small", rolling("unorderedUpdate: {priorityStrategy: {weightPriority: [{weight: -1, matchSelector: {matchLabels: {a: b}}}]}}"), priority + ".weightPriority: every weight must be between 0 and 100"},
			{"priority: empty selector", rolling("unorderedUpdate: {priorityStrategy: {weightPriority: [{weight: 1, matchSelector: {}}]}}"), priority + ".weightPriority: every matchSelector must hold matchLabels or matchExpressions"},
			{"priority: empty key", rolling("unorderedUpdate: {priorityStrategy: {orderPriority: [{orderedKey: a}, {orderedKey: ''}]}}"), priority + ".orderPriority: every orderedKey must name a label"},

			{"minReadySeconds: 0", rolling("minReadySeconds: 0"), ""},
			{"minReadySeconds: 300", rolling("minReadySeconds: 300"), ""},
			{"STS-E5: minReadySeconds 301", rolling("minReadySeconds: 301"), readySeconds},
			{"minReadySeconds: negative", rolling("minReadySeconds: -1"), readySeconds},

			{"revisionHistoryLimit: not validated", "revisionHistoryLimit: -1", ""},
		} {
			t.Run(version+"/"+test.name, func(t *testing.T) {
				check(t, wanted(test.want), v.judge(t, statefulSet(version, test.spec), ""))
			})
		}
	}
}

// wanted is a list of one error, or of none.
func wanted(want string) []string {
	if want == "" {
		return nil
	}
	return []string{want}
}

func TestStatefulSetFieldsOfV1beta1(t *testing.T) {
	v := newValidator(t, "statefulsets.apps.kruise.io", "v1beta1")
	const scale, retention = "spec.scaleStrategy", "spec.persistentVolumeClaimRetentionPolicy"
	for _, test := range []struct {
		name, spec, want string // no want: accepted
	}{
		{"reserveOrdinals: some", "reserveOrdinals: [0, 7]", ""},
		{"reserveOrdinals: none", "reserveOrdinals: []", ""},
		{"reserveOrdinals: negative, which is left to the webhook", "reserveOrdinals: [3, -1]", ""},
		{"reserveOrdinals: ranges", `reserveOrdinals: ["5-7", 6]`, ""},
		{"reserveOrdinals: what is no range, which is left to the webhook", `reserveOrdinals: ["5", "7-5"]`, ""},
		{"ordinals.start", "ordinals: {start: 5}", ""},
		{"ordinals.start: absent", "ordinals: {}", ""},
		{"ordinals.start: negative", "ordinals: {start: -1}", "spec.ordinals.start: must be 0 or more"},
		{"reserveOrdinals: repeated, which is left to the webhook", "reserveOrdinals: [3, 3]", ""},

		{"lifecycle", "lifecycle: {preDelete: {finalizersHandler: [a/b]}}", ""},

		{"scaleStrategy: empty", "scaleStrategy: {}", ""},
		{"scaleStrategy: 1 in order", "scaleStrategy: {maxUnavailable: 1}", ""},
		{"scaleStrategy: 2 in order", "scaleStrategy: {maxUnavailable: 2}", scale + wantParallel},
		{"scaleStrategy: a percentage in order", "scaleStrategy: {maxUnavailable: 10%}", scale + wantParallel},
		{"scaleStrategy: a percentage", "podManagementPolicy: Parallel\nscaleStrategy: {maxUnavailable: 10%}", ""},
		{"scaleStrategy: 0", "podManagementPolicy: Parallel\nscaleStrategy: {maxUnavailable: 0}", scale + wantUnavailable + "0"},
		{"scaleStrategy: no number", "podManagementPolicy: Parallel\nscaleStrategy: {maxUnavailable: few}", scale + wantUnavailable + "few"},

		{"retention: both", "persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete, whenScaled: Retain}", ""},
		{"retention: empty is the default", "persistentVolumeClaimRetentionPolicy: {whenDeleted: ''}", ""},
		{"retention: whenDeleted unknown", "persistentVolumeClaimRetentionPolicy: {whenDeleted: Keep}", retention + ".whenDeleted: must be Retain or Delete, is Keep"},
		{"retention: whenScaled unknown", "persistentVolumeClaimRetentionPolicy: {whenScaled: delete}", retention + ".whenScaled: must be Retain or Delete, is delete"},
	} {
		t.Run(test.name, func(t *testing.T) {
			check(t, wanted(test.want), v.judge(t, statefulSet("v1beta1", test.spec), ""))
		})
	}
}

func TestStatefulSetWithoutSpec(t *testing.T) {
	for _, version := range statefulSetVersions {
		v := newValidator(t, "statefulsets.apps.kruise.io", version)
		check(t, []string{"spec: a StatefulSet needs a spec with a selector and a template"},
			v.judge(t, "{apiVersion: apps.kruise.io/"+version+", kind: StatefulSet, metadata: {name: web}}", ""))
	}
}

func TestStatefulSetUpdate(t *testing.T) {
	const byLabel, byExpression = "selector: {matchLabels: {app: web}}", "selector: {matchExpressions: [{key: app, operator: Exists}]}"
	const (
		selector = "spec.selector: cannot be changed: create another StatefulSet for another selector"
		service  = "spec.serviceName: cannot be changed: create another StatefulSet for another service"
		policy   = "spec.podManagementPolicy: cannot be changed: create another StatefulSet for another policy"
	)
	for _, version := range statefulSetVersions {
		v := newValidator(t, "statefulsets.apps.kruise.io", version)
		for _, test := range []struct {
			name, from, to, want string // no want: accepted
		}{
			{"nothing changes", "", "", ""},
			{"replicas change", "replicas: 2", "replicas: 3", ""},
			{"the template changes", "", "template: {spec: {containers: [{name: main, image: web:2}]}}", ""},
			{"claims change", "volumeClaimTemplates: [{metadata: {name: data}}]", "volumeClaimTemplates: [{metadata: {name: logs}}]", ""},
			{"the update strategy changes", "updateStrategy: {type: OnDelete}", "updateStrategy: {rollingUpdate: {partition: 2}}", ""},
			{"the history limit changes", "", "revisionHistoryLimit: 3", ""},

			{"selector: empty lists come and go", byLabel, "selector: {matchLabels: {app: web}, matchExpressions: []}", ""},
			{"selector: a label changes", byLabel, "selector: {matchLabels: {app: shop}}", selector},
			{"selector: a label becomes an expression", byLabel, byExpression, selector},

			{"serviceName: changed", "serviceName: web", "serviceName: shop", service},
			{"serviceName: set", "", "serviceName: shop", service},
			{"serviceName: removed", "serviceName: web", "", service},
			{"serviceName: the empty one is none", "serviceName: ''", "", ""},

			{"podManagementPolicy: changed", "podManagementPolicy: Parallel", "podManagementPolicy: OrderedReady", policy},
			{"podManagementPolicy: removed", "podManagementPolicy: Parallel", "", policy},
			{"podManagementPolicy: the default is written out", "", "podManagementPolicy: OrderedReady", ""},
			{"podManagementPolicy: the default is left out", "podManagementPolicy: OrderedReady", "podManagementPolicy: ''", ""},
		} {
			t.Run(version+"/"+test.name, func(t *testing.T) {
				check(t, wanted(test.want), v.judge(t, statefulSet(version, test.to), statefulSet(version, test.from)))
			})
		}
	}
}

func TestStatefulSetFieldsOfV1beta1CanChange(t *testing.T) {
	v := newValidator(t, "statefulsets.apps.kruise.io", "v1beta1")
	const from = "podManagementPolicy: Parallel\n"
	for _, to := range []string{
		"scaleStrategy: {maxUnavailable: 2}", "reserveOrdinals: [1]", `reserveOrdinals: ["1-3"]`, "ordinals: {start: 1}", "volumeClaimUpdateStrategy: {type: OnPodRollingUpdate}",
		"lifecycle: {preDelete: {finalizersHandler: [a/b]}}", "persistentVolumeClaimRetentionPolicy: {whenScaled: Delete}",
	} {
		check(t, nil, v.judge(t, statefulSet("v1beta1", from+to), statefulSet("v1beta1", from)))
		check(t, nil, v.judge(t, statefulSet("v1beta1", from), statefulSet("v1beta1", from+to)))
	}
}

// An object as large as the API server takes must not run into the limit on
// what the evaluation of rules may cost.
func TestStatefulSetOfGreatSizeIsAffordable(t *testing.T) {
	v := newValidator(t, "statefulsets.apps.kruise.io", "v1beta1")
	var spec strings.Builder
	spec.WriteString("podManagementPolicy: Parallel\nreserveOrdinals: [0")
	for i := range 100_000 {
		fmt.Fprintf(&spec, ",%d", i)
	}
	spec.WriteString("]\nupdateStrategy:\n  rollingUpdate:\n    unorderedUpdate:\n      priorityStrategy:\n        weightPriority:\n")
	for i := range 5_000 {
		fmt.Fprintf(&spec, "        - {weight: 1, matchSelector: {matchLabels: {app: v%d}}}\n", i)
	}
	object := statefulSet("v1beta1", spec.String())
	check(t, nil, v.judge(t, object, object))
}

// SPDX-License-Identifier: Apache-2.0

package crds

import (
	"fmt"
	"strings"
	"testing"
)

// cloneSet is a CloneSet as YAML with these lines in its spec, besides selector
// and template if the lines do not give those themselves.
func cloneSet(lines string) string {
	for _, field := range []string{"selector: {matchLabels: {app: web}}", "template: {spec: {containers: [{name: main, image: web:1, newField: x}]}}"} {
		if name, _, _ := strings.Cut(field, ":"); !strings.Contains(lines, name+":") {
			lines += "\n" + field
		}
	}
	return "apiVersion: apps.kruise.io/v1alpha1\nkind: CloneSet\nmetadata: {name: web}\nspec:\n  " +
		strings.ReplaceAll(strings.TrimSpace(lines), "\n", "\n  ")
}

const (
	partition      = "spec.updateStrategy.partition: must be a number of pods, 0 or more, or a percentage such as 12.5%, is "
	maxUnavailable = "spec.updateStrategy.maxUnavailable: must be a number of pods or a whole percentage such as 20%, is "
	maxSurge       = "spec.updateStrategy.maxSurge: must be a number of pods or a whole percentage such as 20%, is "
	bothZero       = "spec.updateStrategy.maxUnavailable: must not be 0 while maxSurge is 0, because no pod could ever be updated: raise one of them"
	surgeInPlace   = "spec.updateStrategy.maxSurge: must be 0 with the type InPlaceOnly, which replaces no pods: remove it or use InPlaceIfPossible"
	operators      = "spec.selector.matchExpressions: every operator must be In or NotIn with values, or Exists or DoesNotExist without values"
	emptySelector  = "spec.selector: must not be empty: give matchLabels or matchExpressions that match the labels of the template"
	deadline       = "spec.progressDeadlineSeconds: must be 1 or more, and greater than minReadySeconds"
	weights        = "spec.updateStrategy.priorityStrategy.weightPriority: "
)

func TestCloneSet(t *testing.T) {
	v := newValidator(t, "clonesets.apps.kruise.io", "v1alpha1")
	for _, test := range []struct {
		name, spec, want string // no want: accepted
	}{
		{"the least", "", ""},
		{"a template that the schema does not know", "template: {spec: {futureField: {a: 1}}}", ""},

		{"replicas: 0", "replicas: 0", ""},
		{"replicas: negative", "replicas: -1", "spec.replicas: must be 0 or more"},

		{"selector: by expression", "selector: {matchExpressions: [{key: app, operator: In, values: [web]}, {key: beta, operator: DoesNotExist}]}", ""},
		{"selector: null", "selector: null", `spec.selector: spec.selector in body must be of type object: "null"`},
		{"selector: empty", "selector: {}", emptySelector},
		{"selector: empty lists", "selector: {matchLabels: {}, matchExpressions: []}", emptySelector},
		{"selector: unknown operator", "selector: {matchExpressions: [{key: app, operator: Is, values: [web]}]}", operators},
		{"selector: In without values", "selector: {matchExpressions: [{key: app, operator: In}]}", operators},
		{"selector: NotIn without values", "selector: {matchExpressions: [{key: app, operator: NotIn, values: []}]}", operators},
		{"selector: Exists with values", "selector: {matchExpressions: [{key: app, operator: Exists, values: [web]}]}", operators},
		{"selector: Exists with an empty list", "selector: {matchExpressions: [{key: app, operator: Exists, values: []}]}", ""},

		{"scaleStrategy.maxUnavailable: not validated", "scaleStrategy: {maxUnavailable: some}", ""},

		{"type: ReCreate", "updateStrategy: {type: ReCreate}", ""},
		{"type: InPlaceIfPossible", "updateStrategy: {type: InPlaceIfPossible}", ""},
		{"type: InPlaceOnly", "updateStrategy: {type: InPlaceOnly}", ""},
		{"type: OnDelete", "updateStrategy: {type: OnDelete}", ""},
		{"type: empty is the default", "updateStrategy: {type: ''}", ""},
		{"type: unknown", "updateStrategy: {type: InPlace}", "spec.updateStrategy.type: must be ReCreate, InPlaceIfPossible, InPlaceOnly or OnDelete, is InPlace"},

		{"progressDeadlineSeconds", "progressDeadlineSeconds: 1", ""},
		{"progressDeadlineSeconds: none", "progressDeadlineSeconds: 2147483647", ""},
		{"CS-V5: progressDeadlineSeconds: 0", "progressDeadlineSeconds: 0", deadline},
		{"CS-V5: progressDeadlineSeconds: negative", "progressDeadlineSeconds: -1\nminReadySeconds: -5", deadline},
		{"CS-V5: progressDeadlineSeconds: as minReadySeconds", "progressDeadlineSeconds: 30\nminReadySeconds: 30", deadline},
		{"CS-V5: progressDeadlineSeconds: more than minReadySeconds", "progressDeadlineSeconds: 31\nminReadySeconds: 30", ""},

		{"partition: 0", "updateStrategy: {partition: 0}", ""},
		{"partition: a number", "updateStrategy: {partition: 7}", ""},
		{"partition: a percentage", "updateStrategy: {partition: 90%}", ""},
		{"partition: a percentage with a fraction", "updateStrategy: {partition: 12.5%}", ""},
		{"partition: a bare fraction", "updateStrategy: {partition: .5%}", ""},
		{"partition: more than everything", "updateStrategy: {partition: 150%}", ""},
		{"partition: negative", "updateStrategy: {partition: -1}", partition + "-1"},
		{"partition: a negative percentage", "updateStrategy: {partition: -5%}", partition + "-5%"},
		{"CS-E17: partition without %", "updateStrategy: {partition: '50'}", partition + "50"},
		{"partition: no number", "updateStrategy: {partition: half}", partition + "half"},
		{"partition: only %", "updateStrategy: {partition: '%'}", partition + "%"},

		{"maxUnavailable: a number", "updateStrategy: {maxUnavailable: 3}", ""},
		{"maxUnavailable: a percentage", "updateStrategy: {maxUnavailable: 30%}", ""},
		{"CS-E17: maxUnavailable without %", "updateStrategy: {maxUnavailable: '30'}", ""},
		{"maxUnavailable: a fraction", "updateStrategy: {maxUnavailable: 12.5%}", maxUnavailable + "12.5%"},
		{"maxUnavailable: no number", "updateStrategy: {maxUnavailable: few, maxSurge: 1}", maxUnavailable + "few"},
		{"maxSurge: a percentage", "updateStrategy: {maxSurge: 30%}", ""},
		{"maxSurge: without %", "updateStrategy: {maxSurge: '1'}", ""},
		{"maxSurge: a fraction", "updateStrategy: {maxSurge: 12.5%}", maxSurge + "12.5%"},

		{"InPlaceOnly: maxSurge 0", "updateStrategy: {type: InPlaceOnly, maxSurge: 0}", ""},
		{"InPlaceOnly: maxSurge 0%", "updateStrategy: {type: InPlaceOnly, maxSurge: 0%}", ""},
		{"InPlaceOnly: maxSurge 1", "updateStrategy: {type: InPlaceOnly, maxSurge: 1}", surgeInPlace},
		{"InPlaceOnly: maxSurge 1%", "updateStrategy: {type: InPlaceOnly, maxSurge: 1%}", surgeInPlace},
		{"InPlaceOnly: a percentage of no replicas is 0", "replicas: 0\nupdateStrategy: {type: InPlaceOnly, maxSurge: 1%}", ""},
		{"InPlaceIfPossible: maxSurge 1", "updateStrategy: {type: InPlaceIfPossible, maxSurge: 1}", ""},

		{"both 0: numbers", "updateStrategy: {maxUnavailable: 0, maxSurge: 0}", bothZero},
		{"both 0: percentages", "replicas: 5\nupdateStrategy: {maxUnavailable: 0%, maxSurge: 00%}", bothZero},
		{"both 0: maxSurge by default", "updateStrategy: {maxUnavailable: 0}", bothZero},
		{"both 0: without replicas", "replicas: 0\nupdateStrategy: {maxUnavailable: 0, maxSurge: 0}", ""},
		{"not both 0: maxUnavailable by default", "updateStrategy: {maxSurge: 0}", ""},
		{"not both 0: maxSurge", "updateStrategy: {maxUnavailable: 0, maxSurge: 10%}", ""},
		{"not both 0: a small percentage is rounded up", "replicas: 3\nupdateStrategy: {maxUnavailable: 1%}", ""},
		{"not both 0: a negative number counts as 0", "updateStrategy: {maxUnavailable: -1, maxSurge: 1}", ""},

		{"priority: weights", "updateStrategy: {priorityStrategy: {weightPriority: [{weight: 0, matchSelector: {matchLabels: {a: b}}}, {weight: 100, matchSelector: {matchExpressions: [{key: a, operator: Exists}]}}]}}", ""},
		{"priority: order", "updateStrategy: {priorityStrategy: {orderPriority: [{orderedKey: a}]}}", ""},
		{"priority: both, one of them empty", "updateStrategy: {priorityStrategy: {orderPriority: [{orderedKey: a}], weightPriority: []}}", ""},
		{"priority: both", "updateStrategy: {priorityStrategy: {orderPriority: [{orderedKey: a}], weightPriority: [{weight: 1, matchSelector: {matchLabels: {a: b}}}]}}", "spec.updateStrategy.priorityStrategy: must hold weightPriority or orderPriority, not both"},
		{"priority: weight too large", "updateStrategy: {priorityStrategy: {weightPriority: [{weight: 101, matchSelector: {matchLabels: {a: b}}}]}}", weights + "every weight must be between 0 and 100"},
		{"priority: weight too small", "updateStrategy: {priorityStrategy: {weightPriority: [{weight: -1, matchSelector: {matchLabels: {a: b}}}]}}", weights + "every weight must be between 0 and 100"},
		{"priority: empty selector", "updateStrategy: {priorityStrategy: {weightPriority: [{weight: 1, matchSelector: {}}]}}", weights + "every matchSelector must hold matchLabels or matchExpressions"},
		{"priority: empty key", "updateStrategy: {priorityStrategy: {orderPriority: [{orderedKey: a}, {orderedKey: ''}]}}", "spec.updateStrategy.priorityStrategy.orderPriority: every orderedKey must name a label"},

		{"scatter: a term", "updateStrategy: {scatterStrategy: [{key: a, value: ''}]}", ""},
		{"scatter: empty key", "updateStrategy: {scatterStrategy: [{key: '', value: b}]}", "spec.updateStrategy.scatterStrategy: every key must name a label"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var want []string
			if test.want != "" {
				want = []string{test.want}
			}
			check(t, want, v.judge(t, cloneSet(test.spec), ""))
		})
	}
}

func TestCloneSetWithoutSpec(t *testing.T) {
	v := newValidator(t, "clonesets.apps.kruise.io", "v1alpha1")
	check(t, []string{"spec: a CloneSet needs a spec with a selector and a template"},
		v.judge(t, "{apiVersion: apps.kruise.io/v1alpha1, kind: CloneSet, metadata: {name: web}}", ""))
}

func TestCloneSetSelectorIsImmutable(t *testing.T) {
	v := newValidator(t, "clonesets.apps.kruise.io", "v1alpha1")
	const byLabel, byExpression = "selector: {matchLabels: {app: web}}", "selector: {matchExpressions: [{key: app, operator: Exists}]}"
	changed := []string{"spec.selector: cannot be changed: create another CloneSet for another selector"}
	for _, test := range []struct {
		name, from, to string
		want           []string
	}{
		{"nothing changes", byLabel, byLabel, nil},
		{"something else changes", byLabel, byLabel + "\nreplicas: 3", nil},
		{"empty lists come and go", byLabel, "selector: {matchLabels: {app: web}, matchExpressions: []}", nil},
		{"a label changes", byLabel, "selector: {matchLabels: {app: shop}}", changed},
		{"a label is added", byLabel, "selector: {matchLabels: {app: web, tier: front}}", changed},
		{"an expression changes", byExpression, "selector: {matchExpressions: [{key: app, operator: DoesNotExist}]}", changed},
		{"a label becomes an expression", byLabel, byExpression, changed},
	} {
		t.Run(test.name, func(t *testing.T) {
			check(t, test.want, v.judge(t, cloneSet(test.to), cloneSet(test.from)))
		})
	}
}

// An object as large as the API server takes must not run into the limit on
// what the evaluation of rules may cost.
func TestCloneSetOfGreatSizeIsAffordable(t *testing.T) {
	v := newValidator(t, "clonesets.apps.kruise.io", "v1alpha1")
	var spec strings.Builder
	spec.WriteString("updateStrategy:\n  scatterStrategy:\n")
	for i := range 5_000 {
		fmt.Fprintf(&spec, "  - {key: app, value: v%d}\n", i)
	}
	spec.WriteString("  priorityStrategy:\n    weightPriority:\n")
	for i := range 5_000 {
		fmt.Fprintf(&spec, "    - {weight: 1, matchSelector: {matchLabels: {app: v%d}}}\n", i)
	}
	object := cloneSet(spec.String())
	check(t, nil, v.judge(t, object, object))
}

// SPDX-License-Identifier: Apache-2.0

package crds

import (
	"strings"
	"testing"

	"github.com/podwright/podwright/sidecar/sidecarset"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// sidecarSet is a SidecarSet as YAML with these lines in its spec, beside selector and containers if the lines do not
// give those themselves.
func sidecarSet(lines string) string {
	for _, field := range []string{"selector: {matchLabels: {app: web}}", "containers: [{name: log, image: log:1}]"} {
		if name, _, _ := strings.Cut(field, ":"); !strings.Contains("\n"+lines, "\n"+name+":") {
			lines += "\n" + field
		}
	}
	return "apiVersion: apps.kruise.io/v1alpha1\nkind: SidecarSet\nmetadata: {name: demo}\nspec:\n  " + strings.ReplaceAll(strings.TrimSpace(lines), "\n", "\n  ")
}

// SCS-V1: the rules of the definition and the webhook refuse the same.
func TestSidecarSet(t *testing.T) {
	v := newValidator(t, "sidecarsets.apps.kruise.io", "v1alpha1")
	const (
		empty  = ": must not be empty: it would select everything"
		number = ": must be a number such as 3 or a percentage such as 30%"
		at     = "spec.updateStrategy."
	)
	for _, test := range []struct{ name, spec, want string }{
		{"the least", "", ""},
		{"everything", "namespace: shop\nvolumes: [{name: v, emptyDir: {}}]\ninitContainers: [{name: init, image: init:1}]\nimagePullSecrets: [{name: s}]\nrevisionHistoryLimit: 1\n" +
			"updateStrategy: {type: RollingUpdate, paused: true, partition: 30%, maxUnavailable: 0, selector: {matchLabels: {a: b}}, scatterStrategy: [{key: a, value: '*'}]}\n" +
			"injectionStrategy: {paused: true, revision: {revisionName: demo-1, policy: Always}}\npatchPodMetadata: [{annotations: {a: b}, patchPolicy: Overwrite}]", ""},
		{"a container that the schema does not know", "containers: [{name: log, image: log:1, futureField: {a: 1}, upgradeStrategy: {upgradeType: HotUpgrade, hotUpgradeEmptyImage: empty:1}}]", ""},
		{"init containers alone", "containers: []\ninitContainers: [{name: init, image: init:1}]", ""},
		{"nothing to inject", "containers: []", "spec.containers: there is nothing to inject: give containers or initContainers"},
		{"an empty selector", "selector: {}", "spec.selector" + empty},
		{"an operator", "selector: {matchExpressions: [{key: app, operator: Is}]}", "spec.selector.matchExpressions: every operator must be In or NotIn with values, or Exists or DoesNotExist without values"},
		{"namespaces by label", "namespaceSelector: {matchExpressions: [{key: team, operator: Exists}]}", ""},
		{"an empty namespaceSelector", "namespaceSelector: {}", "spec.namespaceSelector" + empty},
		{"a namespace and a selector", "namespace: shop\nnamespaceSelector: {matchLabels: {a: b}}", "spec.namespaceSelector: namespace and namespaceSelector exclude each other; remove one"},
		{"another type", "updateStrategy: {type: Recreate}", at + "type: must be RollingUpdate or NotUpdate"},
		{"NotUpdate needs no sense in the rest", "updateStrategy: {type: NotUpdate, partition: -1, maxUnavailable: some, selector: {}, priorityStrategy: {orderPriority: [{orderedKey: ''}], weightPriority: [{weight: -1, matchSelector: {}}]}, scatterStrategy: [{key: '', value: a}]}", ""},
		{"an empty selector of the update", "updateStrategy: {selector: {}}", at + "selector" + empty},
		{"a negative partition", "updateStrategy: {partition: -1}", at + "partition" + number},
		{"maxUnavailable without %", "updateStrategy: {maxUnavailable: '5'}", at + "maxUnavailable" + number},
		{"a term without a key", "updateStrategy: {scatterStrategy: [{key: '', value: a}]}", at + "scatterStrategy: every term needs the key of a label"},
		{"a revision without a name", "injectionStrategy: {revision: {}}", "spec.injectionStrategy.revision: give revisionName or customVersion"},
		{"a custom version", "injectionStrategy: {revision: {customVersion: v1}}", ""},
		{"a policy", "injectionStrategy: {revision: {customVersion: v1, policy: Partial}}", ""},
		{"an empty policy", "injectionStrategy: {revision: {customVersion: v1, policy: ''}}", ""},
		{"another policy", "injectionStrategy: {revision: {customVersion: v1, policy: Some}}", "spec.injectionStrategy.revision.policy: must be Always or Partial"},
		{"priority: weights", "updateStrategy: {priorityStrategy: {weightPriority: [{weight: 0, matchSelector: {matchLabels: {a: b}}}, {weight: 100, matchSelector: {matchExpressions: [{key: a, operator: Exists}]}}]}}", ""},
		{"priority: both, one of them empty", "updateStrategy: {priorityStrategy: {orderPriority: [{orderedKey: a}], weightPriority: []}}", ""},
		{"priority: both", "updateStrategy: {priorityStrategy: {orderPriority: [{orderedKey: a}], weightPriority: [{weight: 1, matchSelector: {matchLabels: {a: b}}}]}}", at + "priorityStrategy: must hold weightPriority or orderPriority, not both"},
		{"priority: weight too large", "updateStrategy: {priorityStrategy: {weightPriority: [{weight: 101, matchSelector: {matchLabels: {a: b}}}]}}", weights + "every weight must be between 0 and 100"},
		{"priority: empty selector", "updateStrategy: {priorityStrategy: {weightPriority: [{weight: 1, matchSelector: {}}]}}", at + "priorityStrategy.weightPriority: every matchSelector must hold matchLabels or matchExpressions"},
		{"priority: empty key", "updateStrategy: {priorityStrategy: {orderPriority: [{orderedKey: a}, {orderedKey: ''}]}}", at + "priorityStrategy.orderPriority: every orderedKey must name a label"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var want []string
			if test.want != "" {
				want = []string{test.want}
			}
			object := sidecarSet(test.spec)
			got := v.judge(t, object, "")
			check(t, want, got)
			agree(t, object, got, sidecarset.ValidateCreate(read[v1alpha1.SidecarSet](t, object)))
		})
	}
	check(t, []string{"spec: a SidecarSet needs a spec with a selector and with containers or initContainers"},
		v.judge(t, "{apiVersion: apps.kruise.io/v1alpha1, kind: SidecarSet, metadata: {name: demo}}", ""))
	check(t, []string{"<nil>: metadata.name must be at most 63 letters, digits and dashes: it is the value of a label"},
		v.judge(t, strings.Replace(sidecarSet(""), "name: demo", "name: log.agent", 1), ""))
}

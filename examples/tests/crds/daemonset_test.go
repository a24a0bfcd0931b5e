// SPDX-License-Identifier: Apache-2.0

package crds

import (
	"strings"
	"testing"

	"github.com/podwright/podwright/workloads/daemonset"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// daemonSet is a DaemonSet as YAML with these lines in its spec, beside selector and template if the lines do not
// give those themselves.
func daemonSet(lines string) string {
	for _, field := range []string{"selector: {matchLabels: {app: web}}", "template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: web:1}]}}"} {
		if name, _, _ := strings.Cut(field, ":"); !strings.Contains("\n"+lines, "\n"+name+":") {
			lines += "\n" + field
		}
	}
	return "apiVersion: apps.kruise.io/v1alpha1\nkind: DaemonSet\nmetadata: {name: web}\nspec:\n  " + strings.ReplaceAll(strings.TrimSpace(lines), "\n", "\n  ")
}

// DS-V2: the rules of the definition and the webhook refuse the same.
func TestDaemonSet(t *testing.T) {
	v := newValidator(t, "daemonsets.apps.kruise.io", "v1alpha1")
	const (
		at     = "spec.updateStrategy.rollingUpdate."
		number = ": must be a number of nodes, 0 or more, or a whole percentage up to 100%, is "
		both   = at + "maxSurge: must be 0 if maxUnavailable is not: an update takes pods out of service or adds some, not both"
		zero   = at + "maxUnavailable: must not be 0 while maxSurge is 0, because no pod could ever be updated: raise one of them"
		adds   = at + "maxSurge: must be 0 with the type InPlaceIfPossible, which adds no pods: remove it or use Standard"
	)
	rolling := func(fields string) string { return "updateStrategy: {rollingUpdate: {" + fields + "}}" }
	for _, test := range []struct{ name, spec, want string }{
		{"the least", "", ""},
		{"everything", "minReadySeconds: 1\nburstReplicas: 10%\nrevisionHistoryLimit: 0\nlifecycle: {preDelete: {labelsHandler: {a: b}}, preNormal: {}}\n" +
			"updateStrategy: {type: RollingUpdate, rollingUpdate: {rollingUpdateType: InPlaceIfPossible, maxUnavailable: 10%, selector: {matchLabels: {a: b}}, partition: 3, paused: true}}", ""},
		{"a template that the schema does not know", "template: {metadata: {labels: {app: web}}, spec: {futureField: {a: 1}, containers: [{name: main, image: web:1}]}}", ""},
		{"an empty selector", "selector: {}", "spec.selector: must not be empty: give matchLabels or matchExpressions that match the labels of the template"},
		{"an operator", "selector: {matchExpressions: [{key: app, operator: Is}]}", "spec.selector.matchExpressions: every operator must be In or NotIn with values, or Exists or DoesNotExist without values"},
		{"minReadySeconds", "minReadySeconds: -1", "spec.minReadySeconds: must be 0 or more"},
		{"revisionHistoryLimit", "revisionHistoryLimit: -1", "spec.revisionHistoryLimit: must be 0 or more"},
		{"the hook of others", "lifecycle: {inPlaceUpdate: {}}", "spec.lifecycle.inPlaceUpdate: must be absent: a DaemonSet has no such hook"},
		{"another type", "updateStrategy: {type: Recreate}", "spec.updateStrategy.type: must be RollingUpdate or OnDelete, is Recreate"},
		{"empty types are the defaults", "updateStrategy: {type: '', rollingUpdate: {rollingUpdateType: ''}}", ""},
		{"OnDelete", "updateStrategy: {type: OnDelete, rollingUpdate: {maxUnavailable: 0, maxSurge: some, partition: -1, rollingUpdateType: Odd}}", ""},
		{"another rolling type", rolling("rollingUpdateType: InPlaceOnly"), at + "rollingUpdateType: must be Standard or InPlaceIfPossible, is InPlaceOnly"},
		{"partition", rolling("partition: -1"), at + "partition: must be a number of nodes, 0 or more, or a whole percentage up to 100%, is -1"},
		{"a percentage as partition", rolling("partition: 50%"), ""},
		{"what is no percentage", rolling("partition: 12.5%"), at + "partition: must be a number of nodes, 0 or more, or a whole percentage up to 100%, is 12.5%"},
		{"maxUnavailable 100%", rolling("maxUnavailable: 100%"), ""},
		{"maxUnavailable 101%", rolling("maxUnavailable: 101%"), at + "maxUnavailable" + number + "101%"},
		{"maxUnavailable without %", rolling("maxUnavailable: '5'"), at + "maxUnavailable" + number + "5"},
		{"maxUnavailable negative", rolling("maxUnavailable: -1"), at + "maxUnavailable" + number + "-1"},
		{"maxSurge negative", rolling("maxSurge: -1"), at + "maxSurge" + number + "-1"},
		{"both 0", rolling("maxUnavailable: 0, maxSurge: 0"), zero},
		{"both 0%", rolling("maxUnavailable: 0%, maxSurge: 0%"), zero},
		{"maxUnavailable 0 alone", rolling("maxUnavailable: 0"), zero},
		{"maxSurge 0 alone", rolling("maxSurge: 0"), ""},
		{"maxSurge alone", rolling("maxSurge: 1"), ""},
		{"both", rolling("maxUnavailable: 1, maxSurge: 10%"), both},
		{"in place with a surge", rolling("rollingUpdateType: InPlaceIfPossible, maxUnavailable: 0, maxSurge: 1"), adds},
		{"Surging", rolling("rollingUpdateType: Surging"), ""},
		{"Surging with maxUnavailable 0", rolling("rollingUpdateType: Surging, maxUnavailable: 0"), ""},
		{"Surging with maxUnavailable", rolling("rollingUpdateType: Surging, maxUnavailable: 1"), both},
	} {
		t.Run(test.name, func(t *testing.T) {
			var want []string
			if test.want != "" {
				want = []string{test.want}
			}
			object := daemonSet(test.spec)
			got := v.judge(t, object, "")
			check(t, want, got)
			agree(t, object, got, daemonset.ValidateCreate(read[v1alpha1.DaemonSet](t, object)))
		})
	}
	check(t, []string{"spec: a DaemonSet needs a spec with a selector and a template"},
		v.judge(t, "{apiVersion: apps.kruise.io/v1alpha1, kind: DaemonSet, metadata: {name: web}}", ""))
	check(t, nil, v.judge(t, daemonSet("selector: {matchExpressions: [{key: app, operator: Exists}]}"), daemonSet("")))
}

// SPDX-License-Identifier: Apache-2.0

package crds

import (
	"strings"
	"testing"
)

// unitedYAML is a UnitedDeployment of CloneSets with these lines in its spec, beside selector, template and topology if the
// lines do not give those themselves.
func unitedYAML(lines string) string {
	for _, field := range []string{
		"selector: {matchLabels: {app: demo}}",
		"template: {cloneSetTemplate: {metadata: {labels: {app: demo}}, spec: {selector: {}, template: {metadata: {labels: {app: demo}}, spec: {containers: [{name: main, image: nginx}]}}}}}",
		"topology: {subsets: [{name: a}, {name: b}]}",
	} {
		if given, _, _ := strings.Cut(field, ":"); !strings.Contains("\n"+lines, "\n"+given+":") {
			lines += "\n" + field
		}
	}
	return "apiVersion: apps.kruise.io/v1alpha1\nkind: UnitedDeployment\nmetadata: {name: web, namespace: default}\nspec:\n  " +
		strings.ReplaceAll(strings.TrimSpace(lines), "\n", "\n  ")
}

// advanced is a template of Advanced StatefulSets with more in its spec.
func advanced(more string) string {
	return "template: {advancedStatefulSetTemplate: {metadata: {labels: {app: demo}}, spec: {" + more + "selector: {}, template: {metadata: {labels: {app: demo}}, spec: {containers: [{name: main, image: nginx}]}}}}}"
}

func TestUnitedDeployment(t *testing.T) {
	v := newValidator(t, "uniteddeployments.apps.kruise.io", "v1alpha1")
	const (
		one      = "spec.template: must hold exactly one of statefulSetTemplate, advancedStatefulSetTemplate, cloneSetTemplate and deploymentTemplate"
		names    = "spec.topology.subsets: every name must be a DNS label: lower case letters, digits and dashes, 63 at most"
		least    = "spec.topology.subsets: minReplicas of every subset must be 0 or more, or a whole percentage from 0% to 100%"
		most     = "spec.topology.subsets: maxReplicas of every subset must be 0 or more, or a whole percentage from 0% to 100%"
		both     = "spec.topology.subsets: a subset must not have both replicas and minReplicas or maxReplicas"
		seconds  = "spec.topology.scheduleStrategy.adaptive: rescheduleCriticalSeconds, unschedulableDuration and unschedulableLastSeconds must be 0 or more"
		replicas = "spec.topology.subsets: the replicas of every subset must be 0 or more, or a whole percentage from 0% to 100%"
	)
	for _, test := range []struct{ name, spec, want string }{
		{"the least", "", ""},
		{"everything of the topology", "replicas: 5\nrevisionHistoryLimit: 0\nupdateStrategy: {type: Manual, manualUpdate: {partitions: {a: 3}}}\n" +
			"topology: {subsets: [{name: a, replicas: 40%, nodeSelectorTerm: {matchExpressions: [{key: zone, operator: In, values: [a]}]}, tolerations: [{operator: Exists}], patch: {spec: {priorityClassName: low}}}]}", ""},
		{"no subsets", "topology: {}", ""},
		{"StatefulSets", "template: {statefulSetTemplate: {spec: {anything: true}}}", ""},
		{"Deployments", "template: {deploymentTemplate: {spec: {anything: true}}}", ""},
		{"Advanced StatefulSets", advanced(""), ""},
		{"a partition of the type OnDelete", advanced("updateStrategy: {type: OnDelete, rollingUpdate: {partition: 1}}, "), ""},
		{"negative replicas", "replicas: -1", "spec.replicas: must be 0 or more"},
		{"an empty selector", "selector: {}", "spec.selector: must not be empty: give matchLabels or matchExpressions that match the labels of the template"},
		{"an operator without values", "selector: {matchExpressions: [{key: app, operator: In}]}", "spec.selector.matchExpressions: every operator must be In or NotIn with values, or Exists or DoesNotExist without values"},
		{"no template", "template: {}", one},
		{"two templates", "template: {deploymentTemplate: {spec: {}}, statefulSetTemplate: {spec: {}}}", one},
		{"replicas in the template", advanced("replicas: 3, "), "spec.template.advancedStatefulSetTemplate.spec.replicas: must be absent: spec.replicas and the subsets say it"},
		{"a partition in the template", advanced("updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 1}}, "),
			"spec.template.advancedStatefulSetTemplate.spec.updateStrategy.rollingUpdate.partition: must be absent: spec.updateStrategy.manualUpdate.partitions says it"},
		{"a subset without a name", "topology: {subsets: [{name: ''}]}", names},
		{"a subset with a long name", "topology: {subsets: [{name: " + strings.Repeat("a", 64) + "}]}", names},
		{"a subset with negative replicas", "topology: {subsets: [{name: a, replicas: -1}]}", replicas},
		{"UD-15.5: limits", "topology: {subsets: [{name: a, minReplicas: 1, maxReplicas: 50%}, {name: b, minReplicas: 2, maxReplicas: 2}, {name: c, replicas: 1}]}", ""},
		{"UD-15.5: everything of the strategy", "topology: {scheduleStrategy: {type: Adaptive, adaptive: {rescheduleCriticalSeconds: 0, unschedulableDuration: 1, unschedulableLastSeconds: 1, reserveUnschedulablePods: true}}}", ""},
		{"UD-15.5: the strategy Fixed", "topology: {scheduleStrategy: {type: Fixed}}", ""},
		{"UD-15.5: a negative minimum", "topology: {subsets: [{name: a, minReplicas: -1}]}", least},
		{"UD-15.5: a maximum that is no percentage", "topology: {subsets: [{name: a, maxReplicas: ''}]}", most},
		{"UD-15.5: replicas and a limit", "topology: {subsets: [{name: a, replicas: 1, maxReplicas: 2}]}", both},
		{"UD-15.5: a minimum above the maximum, which the webhook refuses", "topology: {subsets: [{name: a, minReplicas: 3, maxReplicas: 2}]}", ""},
		{"UD-15.5: another type", "topology: {scheduleStrategy: {type: Clever}}", "spec.topology.scheduleStrategy.type: must be Fixed or Adaptive"},
		{"UD-15.5: a negative time", "topology: {scheduleStrategy: {adaptive: {rescheduleCriticalSeconds: -1}}}", seconds},
		{"UD-15.5: under the earlier name", "topology: {scheduleStrategy: {adaptive: {unschedulableLastSeconds: -1}}}", seconds},
		{"a subset with no percentage", "topology: {subsets: [{name: a, replicas: ''}]}", replicas},
	} {
		t.Run(test.name, func(t *testing.T) {
			var want []string
			if test.want != "" {
				want = []string{test.want}
			}
			check(t, want, v.judge(t, unitedYAML(test.spec), ""))
		})
	}
}

func TestUnitedDeploymentWithoutSpec(t *testing.T) {
	v := newValidator(t, "uniteddeployments.apps.kruise.io", "v1alpha1")
	check(t, []string{"spec: a UnitedDeployment needs a spec with a selector and a template"},
		v.judge(t, "{apiVersion: apps.kruise.io/v1alpha1, kind: UnitedDeployment, metadata: {name: web}}", ""))
}

func TestUnitedDeploymentSelectorIsImmutable(t *testing.T) {
	v := newValidator(t, "uniteddeployments.apps.kruise.io", "v1alpha1")
	narrower := unitedYAML("selector: {matchLabels: {app: demo, tier: web}}")
	check(t, []string{"spec.selector: cannot be changed: create another UnitedDeployment for another selector"}, v.judge(t, narrower, unitedYAML("")))
	check(t, nil, v.judge(t, unitedYAML("replicas: 3"), unitedYAML("")))
}

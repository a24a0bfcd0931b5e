// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/internal/podtemplate"
	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

func TestValidateCreate(t *testing.T) {
	const at = "spec.template.statefulSetTemplate.spec."
	subset := func(more string) string { return "topology: {subsets: [{name: a, " + more + "}]}" }
	for _, test := range []struct {
		name  string
		lines []string
		want  []string
	}{
		{"the least", nil, nil},
		{"negative replicas", []string{"replicas: -1"}, []string{"Invalid spec.replicas"}},
		{"UD-15.1: no template", []string{"template: {}"}, []string{"Required spec.template"}},
		{"UD-15.1: two templates", []string{strings.Replace(templateYAML(CloneSet, ""), "{cloneSet", "{deploymentTemplate: {}, cloneSet", 1)}, []string{"Required spec.template"}},
		{"UD-15: an empty selector", []string{"selector: {}"}, []string{"Required spec.selector"}},
		{"UD-15: a bad selector", []string{"selector: {matchLabels: {app: 'not valid'}}"}, []string{"Invalid spec.selector.matchLabels"}},
		{"UD-15.1: labels of the pods", []string{"selector: {matchLabels: {app: other}}", templateYAML(StatefulSet, "")}, []string{"Invalid " + at + "template.metadata.labels"}},
		{"UD-15.1: the template of CloneSets is not looked into", []string{"selector: {matchLabels: {app: other}}", templateYAML(CloneSet, "replicas: 3, ")}, nil},
		{"UD-15.1: replicas of a StatefulSet", []string{templateYAML(StatefulSet, "replicas: 3, ")}, []string{"Forbidden " + at + "replicas"}},
		{"UD-15.1: replicas of a Deployment", []string{templateYAML(Deployment, "replicas: 3, ")}, []string{"Forbidden spec.template.deploymentTemplate.spec.replicas"}},
		{"UD-15.1: a partition", []string{templateYAML(StatefulSet, "updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 0}}, ")}, []string{"Forbidden " + at + "updateStrategy.rollingUpdate.partition"}},
		{"UD-15.1: a partition of an Advanced StatefulSet", []string{templateYAML(AdvancedStatefulSet, "updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 0}}, ")},
			[]string{"Forbidden spec.template.advancedStatefulSetTemplate.spec.updateStrategy.rollingUpdate.partition"}},
		{"UD-15.1: a partition where the type is not said", []string{templateYAML(AdvancedStatefulSet, "updateStrategy: {rollingUpdate: {partition: 0}}, ")}, nil},
		{"UD-15.1: the pod template", []string{strings.Replace(templateYAML(StatefulSet, ""), "image: 'nginx:1.21'", "env: []", 1)}, []string{"Required " + at + "template.spec.containers[0].image"}},
		{"UD-15: the same name twice", []string{"topology: {subsets: [{name: a}, {name: a}]}"}, []string{"Duplicate spec.topology.subsets[1].name"}},
		{"UD-15: no name", []string{"topology: {subsets: [{name: ''}]}"}, []string{"Required spec.topology.subsets[0].name"}},
		{"UD-15: a bad name", []string{"topology: {subsets: [{name: A_b}]}"}, []string{"Invalid spec.topology.subsets[0].name"}},
		{"UD-15: bad replicas", []string{"topology: {subsets: [{name: a, replicas: 101%}]}"}, []string{"Invalid spec.topology.subsets[0].replicas"}},
		{"UD-15: no subsets", []string{"topology: {}"}, nil},
		{"UD-15: an operator without values", []string{subset("nodeSelectorTerm: {matchExpressions: [{key: zone, operator: In}]}")}, []string{"Required spec.topology.subsets[0].nodeSelectorTerm.matchExpressions[0].values"}},
		{"UD-15: values without need", []string{subset("nodeSelectorTerm: {matchExpressions: [{key: zone, operator: Exists, values: [a]}]}")}, []string{"Forbidden spec.topology.subsets[0].nodeSelectorTerm.matchExpressions[0].values"}},
		{"UD-15: one value", []string{subset("nodeSelectorTerm: {matchExpressions: [{key: zone, operator: Gt, values: [a, b]}]}")}, []string{"Required spec.topology.subsets[0].nodeSelectorTerm.matchExpressions[0].values"}},
		{"UD-15: an unknown operator and a bad key", []string{subset("nodeSelectorTerm: {matchExpressions: [{key: 'a b', operator: Like}]}")},
			[]string{"Invalid spec.topology.subsets[0].nodeSelectorTerm.matchExpressions[0].operator", "Invalid spec.topology.subsets[0].nodeSelectorTerm.matchExpressions[0].key"}},
		{"UD-15: a toleration of everything", []string{subset("tolerations: [{operator: Exists}]")}, nil},
		{"UD-15: bad tolerations", []string{subset("tolerations: [{}, {key: a, operator: Exists, value: b}, {key: a, effect: Never}, {key: a, tolerationSeconds: 3}]")},
			[]string{"Invalid spec.topology.subsets[0].tolerations[0].operator", "Invalid spec.topology.subsets[0].tolerations[1].value", "NotSupported spec.topology.subsets[0].tolerations[2].effect", "Invalid spec.topology.subsets[0].tolerations[3].effect"}},
		{"UD-15: a patch that cannot be applied", []string{subset("patch: {spec: {containers: 7}}")}, []string{"Invalid spec.topology.subsets[0].patch"}},
		{"UD-15: the partition of no subset", []string{"updateStrategy: {manualUpdate: {partitions: {a: 1, z: 1}}}"}, []string{"Invalid spec.updateStrategy.manualUpdate.partitions[z]"}},
		{"UD-15.3: more than there are", []string{"replicas: 10", "topology: {subsets: [{name: a, replicas: 12}, {name: b}]}"}, []string{"Invalid spec.topology.subsets"}},
		{"UD-15.3: rounded up to more than there are", []string{"replicas: 5", "topology: {subsets: [{name: a, replicas: 50%}, {name: b, replicas: 50%}]}"}, []string{"Invalid spec.topology.subsets"}},
		{"UD-15.3: less than there are", []string{"replicas: 5", "topology: {subsets: [{name: a, replicas: 2}, {name: b, replicas: 2}]}"}, []string{"Invalid spec.topology.subsets"}},
		{"UD-15.3: exactly", []string{"replicas: 4", "topology: {subsets: [{name: a, replicas: 2}, {name: b, replicas: 50%}]}"}, nil},
		{"UD-15.5: limits and a strategy", []string{"replicas: 9", "topology: {subsets: [{name: a, minReplicas: 1, maxReplicas: 50%}, {name: b, maxReplicas: 2}], scheduleStrategy: {type: Adaptive, adaptive: {rescheduleCriticalSeconds: 0}}}"}, nil},
		{"UD-3.4: no replicas, and subsets give numbers", []string{"topology: {subsets: [{name: a, replicas: 2}, {name: b, replicas: 3}]}"}, nil},
		{"UD-3.4: no replicas, and one subset gives none", []string{"topology: {subsets: [{name: a, replicas: 2}, {name: b}]}"}, []string{"Required spec.replicas"}},
		{"UD-15.5: bad limits", []string{subset("minReplicas: -1, maxReplicas: 101%")}, []string{"Invalid spec.topology.subsets[0].minReplicas", "Invalid spec.topology.subsets[0].maxReplicas"}},
		{"UD-15.5: replicas and a limit", []string{subset("replicas: 1, minReplicas: 1")}, []string{"Forbidden spec.topology.subsets[0].minReplicas"}},
		{"UD-15.5: a minimum above the maximum", []string{subset("minReplicas: 30%, maxReplicas: 20%")}, []string{"Invalid spec.topology.subsets[0].minReplicas"}},
		{"UD-15.5: a number and a percentage", []string{subset("minReplicas: 30, maxReplicas: 20%")}, nil},
		{"UD-15.5: another type of strategy", []string{"topology: {scheduleStrategy: {type: Clever}}"}, []string{"NotSupported spec.topology.scheduleStrategy.type"}},
		{"UD-15.5: negative times", []string{"topology: {scheduleStrategy: {adaptive: {rescheduleCriticalSeconds: -1, unschedulableDuration: -1, unschedulableLastSeconds: -1}}}"},
			[]string{"Invalid spec.topology.scheduleStrategy.adaptive.rescheduleCriticalSeconds", "Invalid spec.topology.scheduleStrategy.adaptive.unschedulableDuration", "Invalid spec.topology.scheduleStrategy.adaptive.unschedulableLastSeconds"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			errs := ValidateCreate(newSet(t, test.lines...))
			if diff := cmp.Diff(test.want, conformance.Problems(errs)); diff != "" {
				t.Errorf("(-want +got):\n%s\n%v", diff, errs.ToAggregate())
			}
		})
	}
}

func TestValidateUpdate(t *testing.T) {
	fixed := "topology: {subsets: [{name: a, replicas: 2}, {name: b, replicas: 2}]}"
	zone := "topology: {subsets: [{name: a, nodeSelectorTerm: {matchExpressions: [{key: zone, operator: Exists}]}, tolerations: [{operator: Exists}]}]}"
	const sts, asts = "spec.template.statefulSetTemplate.spec.", "spec.template.advancedStatefulSetTemplate.spec."
	for _, test := range []struct {
		name     string
		old, new []string
		want     []string
	}{
		{"UD-15.2: an unchanged spec is not judged", []string{"replicas: -1"}, []string{"replicas: -1"}, nil},
		{"UD-15.3: a scale that meets fixed subsets", []string{"replicas: 4", fixed}, []string{"replicas: 9", fixed}, nil},
		{"UD-15.3: and in another order of them", []string{"replicas: 4", fixed}, []string{"replicas: 9", "topology: {subsets: [{name: b, replicas: 2}, {name: a, replicas: 2}]}"}, nil},
		{"UD-15.3: who changes the subsets has to know", []string{"replicas: 4", fixed}, []string{"replicas: 4", strings.Replace(fixed, "2", "3", 1)}, []string{"Invalid spec.topology.subsets"}},
		{"UD-15.2: another term", []string{"topology: {subsets: [{name: a}]}"}, []string{zone}, []string{"Forbidden spec.topology.subsets[0].nodeSelectorTerm", "Forbidden spec.topology.subsets[0].tolerations"}},
		{"UD-15.2: of a new subset", []string{"topology: {subsets: [{name: b}]}"}, []string{zone}, nil},
		{"UD-15.2: a wider selector", []string{"selector: {matchLabels: {app: demo, tier: web}}"}, nil, []string{"Invalid spec.selector"}},
		{"UD-15.2: another kind", nil, []string{templateYAML(StatefulSet, "serviceName: a, ")}, nil},
		{"UD-15.2: what StatefulSets do not let change", []string{templateYAML(StatefulSet, "")}, []string{templateYAML(StatefulSet, "serviceName: a, podManagementPolicy: Parallel, volumeClaimTemplates: [{metadata: {name: a}}], ")},
			[]string{"Forbidden " + sts + "serviceName", "Forbidden " + sts + "podManagementPolicy", "Forbidden " + sts + "volumeClaimTemplates"}},
		{"UD-15.2: what they do", []string{templateYAML(StatefulSet, "")}, []string{templateYAML(StatefulSet, "podManagementPolicy: OrderedReady, updateStrategy: {type: OnDelete}, minReadySeconds: 3, ")}, nil},
		{"UD-15.2: what Advanced StatefulSets do not let change", []string{templateYAML(AdvancedStatefulSet, "")}, []string{templateYAML(AdvancedStatefulSet, "serviceName: a, podManagementPolicy: Parallel, reserveOrdinals: [1], ")},
			[]string{"Forbidden " + asts + "serviceName", "Forbidden " + asts + "podManagementPolicy"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			errs := ValidateUpdate(newSet(t, test.new...), newSet(t, test.old...))
			if diff := cmp.Diff(test.want, conformance.Problems(errs)); diff != "" {
				t.Errorf("(-want +got):\n%s\n%v", diff, errs.ToAggregate())
			}
		})
	}
}

// UD-15.5: minReplicas and maxReplicas leave room for spec.replicas, if they are read and change.
func TestValidateLimits(t *testing.T) {
	least, most := "topology: {subsets: [{name: a, minReplicas: 3}, {name: b, replicas: 2}]}", "topology: {subsets: [{name: a, maxReplicas: 3}, {name: b, replicas: 2}]}"
	for _, test := range []struct {
		name     string
		old, new []string
		off      bool
		want     []string
	}{
		{"the minima are too much", nil, []string{"replicas: 4", least}, false, []string{"Invalid spec.topology.subsets"}},
		{"the maxima are too little", nil, []string{"replicas: 6", most}, false, []string{"Invalid spec.topology.subsets"}},
		{"exactly", nil, []string{"replicas: 5", most}, false, nil},
		{"not read", nil, []string{"replicas: 4", least}, true, nil},
		{"UD-15.3: what an autoscaler writes", []string{"replicas: 5", least}, []string{"replicas: 4", least}, false, nil},
		{"who changes a limit has to know", []string{"replicas: 6", strings.Replace(most, "3", "4", 1)}, []string{"replicas: 6", most}, false, []string{"Invalid spec.topology.subsets"}},
		{"who changes it where it is not read need not", []string{"replicas: 1", strings.Replace(most, "3", "4", 1)}, []string{"replicas: 1", most}, true, nil},
	} {
		errs := validateCreate(newSet(t, test.new...), !test.off)
		if test.old != nil {
			errs = validateUpdate(newSet(t, test.new...), newSet(t, test.old...), !test.off)
		}
		if diff := cmp.Diff(test.want, conformance.Problems(errs)); diff != "" {
			t.Errorf("%s (-want +got):\n%s\n%v", test.name, diff, errs.ToAggregate())
		}
	}
}

// UD-15.4: the label of deletion protection.
func TestValidateDelete(t *testing.T) {
	set := newSet(t, "replicas: 3")
	if err := ValidateDelete(set); err != nil {
		t.Error(err)
	}
	set.Labels = map[string]string{"policy.kruise.io/delete-protection": "Cascading"}
	if err := ValidateDelete(set); err == nil || !contains(err.Error(), "replicas 3>0") {
		t.Errorf("error %v", err)
	}
	set.Spec.Replicas = new(int32)
	if err := ValidateDelete(set); err != nil {
		t.Error(err)
	}
	set.Spec.Replicas = nil
	if err := ValidateDelete(set); err != nil {
		t.Error(err)
	}
	set.Spec.Topology.Subsets = newSet(t, "topology: {subsets: [{name: a, replicas: 2}, {name: b, replicas: 50%}, {name: c}, {name: d, replicas: 3}]}").Spec.Topology.Subsets
	if err := ValidateDelete(set); err == nil || !contains(err.Error(), "replicas 5>0") {
		t.Errorf("DP-8: error %v", err)
	}
}

// UD-14: the defaults, and which templates get them.
func TestDefault(t *testing.T) {
	numbers, mixed := "topology: {subsets: [{name: a, replicas: 2}, {name: b, replicas: 3}]}", "topology: {subsets: [{name: a, replicas: 2}, {name: b}]}"
	for _, test := range []struct {
		name string
		old  *v1alpha1.UnitedDeployment
		new  []string
		want *int32
	}{
		{"UD-3.4: subsets that give numbers", nil, []string{numbers}, nil},
		{"UD-3.4: one that gives none", nil, []string{mixed}, nil},
		{"UD-3.4: an update without", newSet(t, "replicas: 7"), nil, new(int32(7))},
		{"UD-3.4: an update without, one gives a number", newSet(t, "replicas: 7"), []string{mixed}, new(int32(7))},
		{"UD-3.4: an update to the sum", newSet(t, "replicas: 7"), []string{numbers}, nil},
	} {
		set := newSet(t, test.new...)
		if Default(set, test.old, DefaultOptions{}); !ptr.Equal(set.Spec.Replicas, test.want) {
			t.Errorf("%s: replicas %v", test.name, set.Spec.Replicas)
		}
	}
	set := newSet(t)
	Default(set, nil, DefaultOptions{})
	want := newSet(t, "replicas: 1", "revisionHistoryLimit: 10", "updateStrategy: {type: Manual, manualUpdate: {}}")
	if diff := cmp.Diff(want, set); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	claims := "volumeClaimTemplates: [{metadata: {name: data}}], "
	for _, test := range []struct {
		name  string
		kind  TemplateKind
		old   *v1alpha1.UnitedDeployment
		off   bool
		whole bool
	}{
		{"a new one", StatefulSet, nil, false, true},
		{"a new one, switched off", StatefulSet, nil, true, false},
		{"a new template", StatefulSet, newSet(t), false, true},
		{"a changed template", StatefulSet, newSet(t, templateYAML(StatefulSet, "")), false, true},
		{"the same template", StatefulSet, newSet(t, templateYAML(StatefulSet, claims)), false, false},
		{"Advanced StatefulSets", AdvancedStatefulSet, nil, false, false},
		{"CloneSets", CloneSet, nil, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			set, old := newSet(t, templateYAML(test.kind, claims)), test.old.DeepCopy()
			want := set.DeepCopy()
			Default(set, test.old, DefaultOptions{TemplateNoDefaults: test.off})
			if test.whole {
				stored := podtemplate.Templates{}
				if old != nil && old.Spec.Template.StatefulSetTemplate != nil {
					stored = templates(&old.Spec.Template)
				}
				templates(&want.Spec.Template).Default(stored)
			}
			if got := set.Spec.Template; !equality.Semantic.DeepEqual(want.Spec.Template, got) {
				t.Errorf("(-want +got):\n%s", cmp.Diff(want.Spec.Template, got))
			}
			if !cmp.Equal(old, test.old) {
				t.Error("Default changed the stored one")
			}
		})
	}
}

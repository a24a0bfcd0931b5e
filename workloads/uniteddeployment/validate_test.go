// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/internal/podtemplate"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// TestValidate shows what is said of the UnitedDeployments in testdata/validate.txt, whose lines newSet has. Of an update, the line
// "to" stands between what is stored and what comes. With the word adaptive the limits of subsets are read.
func TestValidate(t *testing.T) {
	datadriven.RunTest(t, "testdata/validate.txt", func(t *testing.T, d *datadriven.TestData) string {
		adaptive := len(d.CmdArgs) > 0
		lines := strings.Split(d.Input, "\n")
		var errs field.ErrorList
		if at := slices.Index(lines, "to"); at >= 0 {
			errs = validateUpdate(newSet(t, lines[at+1:]...), newSet(t, lines[:at]...), adaptive)
		} else {
			errs = validateCreate(newSet(t, lines...), adaptive)
		}
		var out strings.Builder
		for _, err := range errs {
			fmt.Fprintln(&out, err)
		}
		return out.String()
	})
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

// SPDX-License-Identifier: Apache-2.0

package sidecarset_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/sidecarset"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// setOf returns a SidecarSet that selects app=web and injects the container log, unless
// the spec says otherwise, which is YAML.
func setOf(t testing.TB, name, spec string) *v1alpha1.SidecarSet {
	t.Helper()
	set := patches.Object[v1alpha1.SidecarSet](t, "spec: "+spec)
	set.Name = name
	if set.Spec.Selector == nil {
		set.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	}
	if set.Spec.Containers == nil {
		set.Spec.Containers = []v1alpha1.SidecarContainer{{Container: corev1.Container{Name: "log"}}}
	}
	return set
}

// TestValidate shows what is wrong with SidecarSets, a line each. It has the spec as setOf reads it, perhaps behind the name. Behind => stands
// what it is judged by, and behind # what the line shows. To accept a change of behaviour, run the test with -rewrite and read the difference.
//
//	create             a new one, which is as good once it has its defaults
//	update             one in the place of another
//	conflicts          one beside another; there is the namespace shop, of team a
//	metadata           one of team a by a white list; "allowed" says that annotations are without one
//	match              which pods webhooks are asked about if there are those of a line, behind one another (SCS-W9)
func TestValidate(t *testing.T) {
	datadriven.Walk(t, "testdata/validate", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			return patches.EachLine(d.Input, func(line string) string {
				if d.Cmd == "match" {
					return matching(t, line)
				}
				spec, by, _ := strings.Cut(line+" ", " => ")
				out := ""
				for _, err := range judged(t, d, spec, by) {
					out += err.Error() + "\n"
				}
				return out
			})
		})
	})
}

func judged(t *testing.T, d *datadriven.TestData, spec, by string) field.ErrorList {
	t.Helper()
	name := "demo"
	if !strings.HasPrefix(spec, "{") {
		name, spec, _ = strings.Cut(spec, " ")
	}
	set := setOf(t, strings.Trim(name, `"`), spec)
	switch d.Cmd {
	case "create":
		if strings.Contains(spec, "selector: null") {
			set.Spec.Selector = nil
		}
		errs := sidecarset.ValidateCreate(set)
		injection.Default(set)
		if again := sidecarset.ValidateCreate(set); len(errs) == 0 && len(again) > 0 {
			t.Errorf("%s: with its defaults: %v", spec, again)
		}
		return errs
	case "update":
		return sidecarset.ValidateUpdate(set, setOf(t, name, by))
	case "conflicts":
		return sidecarset.Conflicts(set, []*v1alpha1.SidecarSet{set, nil, setOf(t, "other", by)}, func(name string) *corev1.Namespace {
			if name != "shop" {
				return nil
			}
			return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"team": "a"}}}
		})
	}
	set.Labels = map[string]string{"team": "a"}
	list, err := sidecarset.ReadWhitelist(&corev1.ConfigMap{Data: map[string]string{sidecarset.WhitelistKey: by}})
	if err != nil {
		t.Fatal(err)
	}
	return sidecarset.ValidateMetadata(set, list, d.HasArg("allowed"))
}

// matching is the expression of the SidecarSets of a line.
func matching(t *testing.T, line string) string {
	all := []*v1alpha1.SidecarSet{nil}
	for i, spec := range strings.Split(line, " => ") {
		if spec != "none" {
			all = append(all, setOf(t, fmt.Sprint("set-", i), spec))
		}
	}
	return sidecarset.MatchExpression(all)
}

// The values of 500 labels are told apart, and no more. (SCS-W9)
func TestMatchExpressionOfMany(t *testing.T) {
	var many []*v1alpha1.SidecarSet
	for i := range 501 {
		many = append(many, setOf(t, "many", fmt.Sprintf("{selector: {matchLabels: {app: app-%d}}}", i)))
	}
	if few, all := sidecarset.MatchExpression(many[:500]), sidecarset.MatchExpression(many); few == "true" || all != "true" {
		t.Errorf("of 500: %.100s, of 501: %.100s", few, all)
	}
}

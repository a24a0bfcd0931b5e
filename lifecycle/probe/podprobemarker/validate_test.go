// SPDX-License-Identifier: Apache-2.0

package podprobemarker

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

const (
	selector = "selector: {matchLabels: {app: web}}"
	named    = "name: idle, containerName: main, podConditionType: Idle, "
)

func parse(t *testing.T, spec string) *v1alpha1.PodProbeMarker {
	t.Helper()
	m := &v1alpha1.PodProbeMarker{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "games"}}
	if err := yaml.UnmarshalStrict([]byte(spec), &m.Spec); err != nil {
		t.Fatal(err)
	}
	return m
}

// PPM-1.2 to PPM-1.5: what admission refuses.
func TestValidate(t *testing.T) {
	datadriven.RunTest(t, "testdata/validate.txt", func(t *testing.T, d *datadriven.TestData) string {
		var lines []string
		for _, err := range ValidateCreate(parse(t, d.Input)) {
			lines = append(lines, err.Error()+"\n")
		}
		if strings.Contains(d.Input, "a b: c") {
			slices.Sort(lines) // labels come in any order
		}
		return strings.Join(lines, "")
	})
}

// PPM-1.6: what is too large.
func TestValidateSize(t *testing.T) {
	script := func(text string) string {
		return selector + "\nprobes: [{" + named + "probe: {exec: {command: [sh, -c, '" + text + "']}}}]"
	}
	for _, test := range []struct{ name, spec, want string }{
		{"a long script", script(strings.Repeat("x", 4<<10)), "spec.probes[0].probe"},
		{"as JSON has it", script(strings.Repeat("<", 1<<10)), "spec.probes[0].probe"},
		{"several long ones", selector + "\nprobes: [" + strings.Join(longProbes(5), ", ") + "]", "spec.probes[4].probe"},
	} {
		if errs := ValidateCreate(parse(t, test.spec)); len(errs) != 1 || errs[0].Field != test.want || errs[0].Type != field.ErrorTypeInvalid {
			t.Errorf("%s: %v, want one about %s", test.name, errs, test.want)
		}
	}
}

// longProbes are probes each of which is as large as most can be.
func longProbes(n int) (probes []string) {
	for i := range n {
		probes = append(probes, fmt.Sprintf("{name: p%d, containerName: main, podConditionType: example.com/p%d, probe: {exec: {command: [%s]}}}", i, i, strings.Repeat("x", 3950)))
	}
	return probes
}

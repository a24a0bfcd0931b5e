// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/sidecar/injection/resources"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// TestExpressions shows in testdata/expressions.txt what expressions come to. A line has the variable, its quantity, and the expression.
// The quantity is that of memory if the variable is.
func TestExpressions(t *testing.T) {
	datadriven.RunTest(t, "testdata/expressions.txt", func(t *testing.T, d *datadriven.TestData) string {
		return patches.EachLine(d.Input, func(line string) string {
			given, quoted, _ := strings.Cut(line, ": ")
			variable, value, _ := strings.Cut(given, "=")
			text, err := strconv.Unquote(quoted)
			if err != nil {
				t.Fatal(err)
			}
			e, err := resources.Parse(text, variable)
			if err != nil {
				return err.Error()
			}
			got, err := e.Evaluate(resource.MustParse(value), variable == "memory")
			if err != nil {
				return err.Error()
			}
			return got.String()
		})
	})
}

// TestPolicies shows in testdata/policies.txt what policies come to.
func TestPolicies(t *testing.T) {
	spec := patches.Object[corev1.PodSpec](t, `{initContainers: [{name: app-native, restartPolicy: Always}, {name: app-init}, {name: log-native, restartPolicy: Always}],
		containers: [{name: app}, {name: my-app}, {name: log}], ephemeralContainers: [{name: app-debug}]}`)
	datadriven.RunTest(t, "testdata/policies.txt", func(t *testing.T, d *datadriven.TestData) string {
		switch d.Cmd {
		case "aggregate":
			containers := *patches.Object[[]corev1.Container](t, d.Input)
			sum, largest := resources.Sum(containers), resources.Max(containers)
			return fmt.Sprintf("sum: requests %s, limits %s\nmax: requests %s, limits %s\n",
				patches.JSON(t, sum.Requests), patches.JSON(t, sum.Limits), patches.JSON(t, largest.Requests), patches.JSON(t, largest.Limits))
		case "targets":
			return patches.EachLine(d.Input, func(line string) string { return targets(t, spec, strings.Trim(line, `"`)) })
		case "try":
			return patches.EachLine(d.Input, func(line string) string { return try(t, line) })
		}
		return compute(t, d.Input)
	})
}

// targets are the containers that a policy with a pattern takes of a pod whose container log was injected.
func targets(t *testing.T, spec *corev1.PodSpec, pattern string) string {
	t.Helper()
	p, err := resources.NewPolicy(&v1alpha1.ResourcesPolicy{TargetContainersNameRegex: pattern})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range p.Targets(spec, func(name string) bool { return name == "log" }) {
		names = append(names, c.Name)
	}
	return strings.Join(names, " ")
}

// try says what is wrong with a policy.
func try(t *testing.T, text string) string {
	t.Helper()
	p, err := resources.NewPolicy(patches.Object[v1alpha1.ResourcesPolicy](t, text))
	if err != nil {
		return "cannot be read: " + err.Error()
	}
	if err := p.Try(); err != nil {
		return "tried: " + err.Error()
	}
	return "good"
}

// compute shows what a sidecar gets.
func compute(t *testing.T, text string) string {
	t.Helper()
	given := patches.Object[struct {
		Policy     v1alpha1.ResourcesPolicy
		Containers []corev1.Container
	}](t, text)
	p, err := resources.NewPolicy(&given.Policy)
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Compute(given.Containers)
	if err != nil {
		return err.Error() + "\n"
	}
	return fmt.Sprintf("requests %s, limits %s\n", patches.JSON(t, got.Requests), patches.JSON(t, got.Limits))
}

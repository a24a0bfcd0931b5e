// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/inplace"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/podtemplate"
	"github.com/podwright/podwright/internal/validation"
)

var spec = field.NewPath("spec")

// read reads what a script gives.
func read[T any](t *testing.T, text string) (out T) {
	t.Helper()
	if err := yaml.UnmarshalStrict([]byte(text), &out); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return out
}

// TestErrors shows in testdata/errors.txt what is wrong with fields. Selectors are for pods with the label app=demo, alone or as one of
// several. A template may take the place of one of zone a and image a:1. A pull policy may be Always or Never.
func TestErrors(t *testing.T) {
	labels := map[string]string{"app": "demo"}
	datadriven.RunTest(t, "testdata/errors.txt", func(t *testing.T, d *datadriven.TestData) string {
		var errs field.ErrorList
		switch d.Cmd {
		case "selector":
			errs = validation.Selector(read[*metav1.LabelSelector](t, d.Input), labels, spec)
		case "changedSelector":
			errs = validation.SelectorUnchanged(read[*metav1.LabelSelector](t, d.Input), &metav1.LabelSelector{MatchLabels: labels}, "CloneSet", spec)
		case "templates":
			errs = validation.Templates(read[podtemplate.Templates](t, d.Input), "CloneSet", spec)
		case "inPlaceOnly":
			old := read[*corev1.PodTemplateSpec](t, `{spec: {nodeSelector: {example.com/zone: a}, containers: [{name: main, image: "a:1"}]}}`)
			template := read[*corev1.PodTemplateSpec](t, d.Input)
			errs = validation.InPlaceOnly(template, old, "updateStrategy.type", spec.Child("template"), inplace.CalculateOptions{})
		case "priority":
			errs = validation.Priority(read[*inplacev1alpha1.UpdatePriorityStrategy](t, d.Input), field.NewPath("p"))
		case "name":
			for _, name := range read[[]string](t, d.Input) {
				errs = append(errs, validation.Name(name, field.NewPath("metadata", "name"), "a label")...)
			}
		case "enum":
			for _, word := range read[[]corev1.PullPolicy](t, d.Input) {
				errs = append(errs, validation.Enum(word, field.NewPath("p"), corev1.PullAlways, corev1.PullNever)...)
			}
		}
		var out strings.Builder
		for _, err := range errs {
			out.WriteString(err.Error() + "\n")
		}
		return out.String()
	})
}

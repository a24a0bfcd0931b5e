// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/internal/testing/conformance/verdicts"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// judgements are what the API server says of a template, by the argument templates of a script.
var judgements = map[string]error{
	"valid":   nil,
	"silent":  errors.New("no"),
	"invalid": apierrors.NewInvalid(schema.GroupKind{Kind: "PodTemplate"}, "check", field.ErrorList{field.Required(field.NewPath("template", "spec", "a"), "why")}),
}

// TestAdmission plays what the webhook says, in testdata/admission: see conformance.PlayAdmission. With templates=valid and so on it asks about
// templates, and gets one of judgements. (UD-14, UD-15)
func TestAdmission(t *testing.T) {
	conformance.PlayAdmission(t, "testdata/admission", conformance.Admission{
		Kind: "UnitedDeployment", Resource: "uniteddeployments",
		Object: `{metadata: {namespace: default, name: web}, spec: {selector: {matchLabels: {app: demo}}, topology: {subsets: [{name: a}, {name: b}]},
			template: {cloneSetTemplate: {metadata: {labels: {app: demo}}, spec: {template: {metadata: {labels: {app: demo}}, spec: {containers: [{name: main, image: nginx}]}}}}}}}`,
		New: func(args map[string][]string) conformance.Served {
			w := &Webhook{}
			if verdict := args["templates"]; verdict != nil {
				w.Templates = conformance.CheckTemplates(func(context.Context, string, *corev1.PodTemplateSpec) error { return judgements[verdict[0]] })
			}
			return w
		}})
}

// Every field of the spec, with the values that never do anything or do harm, and what admission says of them. (UD-26)
func TestVerdicts(t *testing.T) {
	verdicts.Check(t, "testdata/verdicts.txt", verdicts.Subject[v1alpha1.UnitedDeployment]{
		Valid: `
metadata: {namespace: shop, name: web}
spec:
  replicas: 5
  selector: {matchLabels: {app: web}}
  template:
    cloneSetTemplate:
      spec:
        selector: {matchLabels: {app: web}}
        template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: a}]}}
  topology: {subsets: [{name: a}, {name: b}]}`,
		Create: ValidateCreate, Update: ValidateUpdate, Touch: `{"revisionHistoryLimit":7}`,
	})
}

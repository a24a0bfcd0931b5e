// SPDX-License-Identifier: Apache-2.0

package crds

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// validator judges objects as the API server does with a CRD and no webhook.
type validator struct {
	schema validation.SchemaValidator
	rules  *cel.Validator
	form   *schema.Structural
}

// newValidator makes the validator of a version of a definition.
func newValidator(t *testing.T, name, version string) *validator {
	t.Helper()
	all := definitions()
	if version == "v1beta1" {
		all = withV1beta1(t)
	}
	for _, crd := range all {
		if crd.GetName() != name {
			continue
		}
		definition := internal(t, crd)
		versionSchema, err := apiextensions.GetSchemaForVersion(definition, version)
		if err != nil || versionSchema == nil {
			t.Fatalf("%s has no version %s: %v", name, version, err)
		}
		schemaValidator, _, err := validation.NewSchemaValidator(versionSchema.OpenAPIV3Schema)
		if err != nil {
			t.Fatal(err)
		}
		form := structural(t, definition, version)
		return &validator{schemaValidator, cel.NewValidator(form, true, celconfig.PerCallLimit), form}
	}
	t.Fatalf("there is no CRD %s", name)
	return nil
}

// judge returns the errors for a new object, or for a change if an old
// object is given, as YAML. As in the API server, the rules are not asked
// about an object that does not even fit the schema.
func (v *validator) judge(t *testing.T, object, old string) []string {
	t.Helper()
	var current, former map[string]any
	parse(t, object, &current)
	errs := validation.ValidateCustomResource(nil, current, v.schema)
	if old != "" {
		parse(t, old, &former)
		errs = validation.ValidateCustomResourceUpdate(nil, current, former, v.schema)
	}
	if len(errs) == 0 {
		errs, _ = v.rules.Validate(context.Background(), nil, v.form, current, untyped(former), celconfig.RuntimeCELCostBudget)
	}
	return words(errs)
}

// untyped keeps a nil map from becoming an old object that is there.
func untyped(object map[string]any) any {
	if object == nil {
		return nil
	}
	return object
}

func parse(t *testing.T, text string, into *map[string]any) {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.UnmarshalCaseSensitivePreserveInts(data, into); err != nil {
		t.Fatal(err)
	}
}

// words are the field and the text of each error: what a user reads, without
// the value, which for a rule is the whole object.
func words(errs field.ErrorList) []string {
	var out []string
	for _, err := range errs {
		out = append(out, err.Field+": "+err.Detail)
	}
	return out
}

// check compares errors with those that a test wants.
func check(t *testing.T, want, got []string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
}

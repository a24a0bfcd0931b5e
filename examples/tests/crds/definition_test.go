// SPDX-License-Identifier: Apache-2.0

package crds

import (
	"context"
	"slices"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/version"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/podwright/podwright/availability"
	"github.com/podwright/podwright/distribution"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/sidecar"
	"github.com/podwright/podwright/workloads"
)

// definitions are the CRDs of all areas.
func definitions() []*unstructured.Unstructured {
	return slices.Concat(workloads.CRDs(), distribution.CRDs(), lifecycle.CRDs(), sidecar.CRDs(), availability.CRDs())
}

// internal decodes a CRD strictly, defaults it, and converts it to the version
// that the API server validates.
func internal(t *testing.T, crd *unstructured.Unstructured) *apiextensions.CustomResourceDefinition {
	t.Helper()
	external := &apiextensionsv1.CustomResourceDefinition{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(crd.Object, external, true); err != nil {
		t.Fatalf("%s has fields that a CRD does not have: %v", crd.GetName(), err)
	}
	apiextensionsv1.SetDefaults_CustomResourceDefinition(external)
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&external.Spec)
	out := &apiextensions.CustomResourceDefinition{}
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(external, out, nil); err != nil {
		t.Fatal(err)
	}
	for _, v := range external.Spec.Versions {
		if v.Storage {
			out.Status.StoredVersions = append(out.Status.StoredVersions, v.Name)
		}
	}
	return out
}

// structural is the schema of a version as the API server uses it.
func structural(t *testing.T, crd *apiextensions.CustomResourceDefinition, name string) *schema.Structural {
	t.Helper()
	versionSchema, err := apiextensions.GetSchemaForVersion(crd, name)
	if err != nil || versionSchema == nil {
		t.Fatalf("%s has no schema for version %q: %v", crd.Name, name, err)
	}
	s, err := schema.NewStructural(versionSchema.OpenAPIV3Schema)
	if err != nil {
		t.Fatalf("%s: the schema of %s is not structural: %v", crd.Name, name, err)
	}
	return s
}

func TestTheAPIServerAcceptsTheDefinitions(t *testing.T) {
	for _, crd := range slices.Concat(definitions(), withV1beta1(t), storedAsV1beta1(t)) {
		t.Run(crd.GetName(), func(t *testing.T) {
			for _, err := range validation.ValidateCustomResourceDefinition(context.Background(), internal(t, crd)) {
				t.Error(err)
			}
		})
	}
}

// oldest is the version of Kubernetes whose functions the rules have to do
// with: the first one that checks rules unless told otherwise.
var oldest = version.MajorMinor(1, 25)

func TestRulesCompileOnOldAPIServers(t *testing.T) {
	for _, crd := range append(definitions(), withV1beta1(t)...) {
		definition := internal(t, crd)
		for _, v := range definition.Spec.Versions {
			t.Run(crd.GetName()+"/"+v.Name, func(t *testing.T) {
				s := structural(t, definition, v.Name)
				rules, err := cel.Compile(s, model.SchemaDeclType(s, true), celconfig.PerCallLimit,
					environment.MustBaseEnvSet(oldest), cel.NewExpressionsEnvLoader())
				if err != nil || len(rules) != len(s.XValidations) {
					t.Fatalf("compiled %d of %d rules: %v", len(rules), len(s.XValidations), err)
				}
				for i, rule := range rules {
					if rule.Error != nil {
						t.Errorf("%s: %v", s.XValidations[i].Rule, rule.Error)
					}
					if rule.MaxCost > validation.StaticEstimatedCostLimit/2 {
						t.Errorf("%s: may cost %d, want at most half of the limit of %d", s.XValidations[i].Rule, rule.MaxCost, validation.StaticEstimatedCostLimit)
					}
					t.Logf("%9d %s", rule.MaxCost, s.XValidations[i].Rule)
				}
			})
		}
	}
}

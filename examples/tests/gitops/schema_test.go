// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/podwright/podwright/workloads"
)

// fill fills in what the API server does with the definitions that have defaults.
func fill(t *testing.T, fields map[string]any) {
	t.Helper()
	for _, crd := range workloads.CRDsWithDefaults() {
		var external apiextensionsv1.CustomResourceDefinition
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(crd.Object, &external); err != nil {
			t.Fatal(err)
		}
		for _, version := range external.Spec.Versions {
			if external.Spec.Names.Kind != fields["kind"] || external.Spec.Group+"/"+version.Name != fields["apiVersion"] {
				continue
			}
			var internal apiextensions.JSONSchemaProps
			if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(version.Schema.OpenAPIV3Schema, &internal, nil); err != nil {
				t.Fatal(err)
			}
			form, err := schema.NewStructural(&internal)
			if err != nil {
				t.Fatal(err)
			}
			defaulting.Default(fields, form)
			return
		}
	}
	t.Fatalf("no definition of %s %s", fields["apiVersion"], fields["kind"])
}

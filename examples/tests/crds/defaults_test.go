// SPDX-License-Identifier: Apache-2.0

package crds

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	apidefaulting "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/podwright/podwright/workloads"
	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/conversion"
	"github.com/podwright/podwright/workloads/daemonset"
	"github.com/podwright/podwright/workloads/statefulset"
	"github.com/podwright/podwright/workloads/uniteddeployment"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// defaulted makes of a spec what the webhook makes of it.
func defaulted[T any](t *testing.T, spec map[string]any, fill func(*T)) map[string]any {
	t.Helper()
	var object T
	document, err := json.Marshal(map[string]any{"spec": spec})
	if err == nil {
		err = json.Unmarshal(document, &object)
	}
	if err != nil {
		t.Fatal(err)
	}
	fill(&object)
	var fields struct{ Spec map[string]any }
	if document, err = json.Marshal(object); err == nil {
		err = json.Unmarshal(document, &fields)
	}
	if err != nil {
		t.Fatal(err)
	}
	return fields.Spec
}

// webhooksOf are the defaults of the webhooks, by the name of the definition.
var webhooksOf = map[string]func(t *testing.T, spec map[string]any) map[string]any{
	"clonesets": func(t *testing.T, spec map[string]any) map[string]any {
		return defaulted(t, spec, func(set *v1alpha1.CloneSet) { cloneset.Default(set, nil, cloneset.DefaultOptions{}) })
	},
	"statefulsets": func(t *testing.T, spec map[string]any) map[string]any {
		return defaulted(t, spec, func(set *v1beta1.StatefulSet) { statefulset.Default(set, nil, statefulset.DefaultOptions{}) })
	},
	"daemonsets": func(t *testing.T, spec map[string]any) map[string]any {
		return defaulted(t, spec, daemonset.Default)
	},
	"uniteddeployments": func(t *testing.T, spec map[string]any) map[string]any {
		return defaulted(t, spec, func(set *v1alpha1.UnitedDeployment) {
			uniteddeployment.Default(set, nil, uniteddeployment.DefaultOptions{})
		})
	},
}

// The webhook would fill in what the schema fills in, too, whatever the user has written. What readers count on is there
// without the webhook. (PF-4.1)
func TestDefaultsOfSchemasAreThoseOfWebhooks(t *testing.T) {
	for _, test := range []struct{ plural, version, spec, want string }{
		{"clonesets", "v1alpha1", "{}", "{replicas: 1, updateStrategy: {type: ReCreate, partition: 0}}"},
		{"clonesets", "v1alpha1", "{replicas: 0, updateStrategy: {}}", "{replicas: 0, updateStrategy: {type: ReCreate, partition: 0}}"},
		{"clonesets", "v1alpha1", "{updateStrategy: {type: InPlaceOnly, partition: 20%}}", "{replicas: 1, updateStrategy: {type: InPlaceOnly, partition: 20%}}"},
		{"statefulsets", "v1alpha1", "{}", "{replicas: 1, updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 0}}}"},
		{"statefulsets", "v1beta1", "{}", "{replicas: 1, updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 0}}}"},
		{"statefulsets", "v1beta1", "{updateStrategy: {type: OnDelete}}", "{replicas: 1, updateStrategy: {type: OnDelete}}"},
		{"statefulsets", "v1beta1", "{updateStrategy: {type: RollingUpdate}}", "{replicas: 1, updateStrategy: {type: RollingUpdate}}"},
		{"statefulsets", "v1beta1", "{updateStrategy: {rollingUpdate: {paused: true}}}",
			"{replicas: 1, updateStrategy: {type: RollingUpdate, rollingUpdate: {paused: true, partition: 0}}}"},
		{"daemonsets", "v1alpha1", "{}", "{updateStrategy: {type: RollingUpdate, rollingUpdate: {}}}"},
		{"daemonsets", "v1alpha1", "{updateStrategy: {type: RollingUpdate}}", "{updateStrategy: {type: RollingUpdate, rollingUpdate: {}}}"},
		{"daemonsets", "v1alpha1", "{updateStrategy: {rollingUpdate: {rollingUpdateType: Surging}}}",
			"{updateStrategy: {type: RollingUpdate, rollingUpdate: {rollingUpdateType: Surging}}}"},
		{"uniteddeployments", "v1alpha1", "{}", "{}"},
		{"uniteddeployments", "v1alpha1", "{replicas: 3}", "{replicas: 3}"},
	} {
		t.Run(strings.Join([]string{test.plural, test.version, test.spec}, " "), func(t *testing.T) {
			var written, filled, want map[string]any
			parse(t, test.spec, &written)
			parse(t, test.spec, &filled)
			parse(t, test.want, &want)
			object := map[string]any{"spec": filled}
			apidefaulting.Default(object, structural(t, internal(t, withDefaults(t, test.plural)), test.version))
			if diff := cmp.Diff(want, object["spec"]); diff != "" {
				t.Errorf("the API server stores (-want +got):\n%s", diff)
			}
			hook := webhooksOf[test.plural]
			if diff := cmp.Diff(hook(t, written), hook(t, filled)); diff != "" {
				t.Errorf("with the webhook (-without defaults of the schema +with them):\n%s", diff)
			}
		})
	}
}

// A DaemonSet that updates nothing by itself gets a rollingUpdate that says nothing.
func TestDefaultsOfADaemonSetOnDelete(t *testing.T) {
	object := map[string]any{"spec": map[string]any{"updateStrategy": map[string]any{"type": "OnDelete"}}}
	apidefaulting.Default(object, structural(t, internal(t, withDefaults(t, "daemonsets")), "v1alpha1"))
	want := map[string]any{"updateStrategy": map[string]any{"type": "OnDelete", "rollingUpdate": map[string]any{}}}
	if diff := cmp.Diff(want, object["spec"]); diff != "" {
		t.Errorf("the API server stores (-want +got):\n%s", diff)
	}
}

// withDefaults is a definition of the workloads with defaults.
func withDefaults(t *testing.T, plural string) *unstructured.Unstructured {
	t.Helper()
	for _, crd := range workloads.CRDsWithDefaults() {
		if crd.GetName() == plural+".apps.kruise.io" {
			return crd
		}
	}
	t.Fatalf("no definition of %s", plural)
	return nil
}

// They are the definitions without defaults, but for these, and the API server takes them.
func TestDefinitionsWithDefaults(t *testing.T) {
	plain, filled := workloads.CRDs(), workloads.CRDsWithDefaults()
	for i, crd := range filled {
		for _, err := range validation.ValidateCustomResourceDefinition(context.Background(), internal(t, crd)) {
			t.Error(err)
		}
		if newer := crd.DeepCopy(); newer.GetName() == "daemonsets.apps.kruise.io" {
			url := "https://hooks.example/convert"
			if err := conversion.ServeV1beta1(newer, admissionregistrationv1.WebhookClientConfig{URL: &url}); err != nil {
				t.Fatal(err)
			}
			for _, err := range validation.ValidateCustomResourceDefinition(context.Background(), internal(t, newer)) {
				t.Errorf("with v1beta1: %v", err)
			}
		}
		withoutDefaults(crd.Object)
		withoutDefaults(plain[i].Object)
		if diff := cmp.Diff(plain[i], crd); diff != "" {
			t.Errorf("%s differs in more than defaults:\n%s", crd.GetName(), diff)
		}
	}
}

// withoutDefaults takes the defaults of all fields of a schema away, and of what is in it.
func withoutDefaults(node any) {
	switch node := node.(type) {
	case map[string]any:
		if _, isField := node["type"].(string); isField || node["x-kubernetes-int-or-string"] == true {
			delete(node, "default")
		}
		for _, inner := range node {
			withoutDefaults(inner)
		}
	case []any:
		for _, inner := range node {
			withoutDefaults(inner)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	fakedynamic "k8s.io/client-go/dynamic/fake"

	"github.com/podwright/podwright/distribution"
	"github.com/podwright/podwright/examples/kit/crds"
	"github.com/podwright/podwright/manager"
)

// asItComes is a definition of the library.
func asItComes(t *testing.T, name string) *unstructured.Unstructured {
	t.Helper()
	for _, crd := range append(definitionsOnDemand(t), distribution.CRDs()...) {
		if crd.GetName() == name {
			return crd
		}
	}
	t.Fatalf("no definition %s", name)
	return nil
}

// standingAs is a definition as a cluster has it: the version in which it stores objects, and all in which some may be stored.
func standingAs(t *testing.T, name, now string, ever ...string) *unstructured.Unstructured {
	t.Helper()
	crd := asItComes(t, name)
	if now == v1beta1 || slices.Contains(ever, v1beta1) {
		service := admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{Namespace: "system", Name: "webhook-service"}}
		for _, area := range onDemand {
			if err := area.serve(crd, service); err != nil {
				t.Fatal(err)
			}
			if now != v1beta1 {
				continue
			}
			if err := area.store(crd); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := unstructured.SetNestedStringSlice(crd.Object, ever, "status", "storedVersions"); err != nil {
		t.Fatal(err)
	}
	return crd
}

// described lists the versions of a definition, with a star at the one in which objects are stored, and says how they are
// converted.
func described(crd *unstructured.Unstructured) string {
	all := names(crd)
	for i, name := range all {
		if name == storedIn(crd).now {
			all[i] += "*"
		}
	}
	text := strings.Join(all, " ")
	client, _, _ := unstructured.NestedMap(crd.Object, "spec", "conversion", "webhook", "clientConfig")
	if url, _, _ := unstructured.NestedString(client, "url"); url != "" {
		text += " by " + strings.TrimPrefix(url, byURL.URL)
	}
	if service, _, _ := unstructured.NestedString(client, "service", "name"); service != "" {
		text += " by " + service
	}
	if strategy, _, _ := unstructured.NestedString(crd.Object, "spec", "conversion", "strategy"); strategy == "None" {
		text += " by itself"
	}
	return text
}

// PF-5.3: what is stored stays, and is stored so: whatever the flags say.
func TestKeepVersions(t *testing.T) {
	const alpha = "v1alpha1"
	ds, bj, sc, ip := onDemand[0].names[0], onDemand[0].names[1], onDemand[1].names[0], onDemand[2].names[1]
	others := slices.DeleteFunc(distribution.CRDs(), func(crd *unstructured.Unstructured) bool { return slices.Contains(namesOnDemand(), crd.GetName()) })
	other := others[0].GetName() // a kind that has v1alpha1 alone
	type list = []string
	unconverted := func(crd *unstructured.Unstructured) {
		crd.Object["spec"].(map[string]any)["conversion"] = map[string]any{"strategy": "None"}
	}
	of := func(name, now string, ever list, changes ...func(*unstructured.Unstructured)) *unstructured.Unstructured {
		crd := standingAs(t, name, now, ever...)
		for _, change := range changes {
			change(crd)
		}
		return crd
	}
	believed := func(crd *unstructured.Unstructured) {
		if err := unstructured.SetNestedField(crd.Object, "bW9yZQ==", caBundleOf...); err != nil {
			t.Fatal(err)
		}
	}
	keeping := manager.Target{URL: byURL.URL, KeepCABundles: true}
	converts, serves := Conversion{Target: &byURL}, Conversion{ServeV1beta1: true, Target: &byURL}
	for _, test := range []struct {
		name, definition string
		standing         *unstructured.Unstructured
		conversion       Conversion
		want             string
	}{
		{"there is none", ds, nil, converts, "v1alpha1*"},
		{"there is none, and v1beta1 is to be served", ds, nil, serves, "v1alpha1* v1beta1 by /convert"},
		{"likewise, the API server converts", bj, nil, serves, "v1alpha1* v1beta1 by itself"},
		{"PF-5.2: likewise, while it cannot be converted", ds, nil, Conversion{ServeV1beta1: true}, "v1alpha1*"},
		{"PF-5.2: v1beta1 is not stored, and no longer to be served", ds, of(ds, alpha, list{alpha}), converts, "v1alpha1*"},
		{"PF-5.2: it is to be served further", ds, of(ds, alpha, list{alpha}), serves, "v1alpha1* v1beta1 by /convert"},
		{"it is stored", ds, of(ds, v1beta1, list{v1beta1}), converts, "v1alpha1 v1beta1* by /convert"},
		{"it is stored, and is to be served", ds, of(ds, v1beta1, list{v1beta1}), serves, "v1alpha1 v1beta1* by /convert"},
		{"objects of both are stored", sc, of(sc, v1beta1, list{alpha, v1beta1}), converts, "v1alpha1 v1beta1* by /convert-sidecar"},
		{"some were stored in it, and none is any more", sc, of(sc, alpha, list{v1beta1, alpha}), converts, "v1alpha1* v1beta1 by /convert-sidecar"},
		{"the status is behind", ds, of(ds, v1beta1, nil), converts, "v1alpha1 v1beta1* by /convert"},
		{"it is stored, and the API server converts", ip, of(ip, v1beta1, list{v1beta1}), converts, "v1alpha1 v1beta1* by itself"},
		{"likewise, without webhooks", ip, of(ip, v1beta1, list{v1beta1}), Conversion{}, "v1alpha1 v1beta1* by itself"},
		{"another program registers the webhook", ds, of(ds, v1beta1, list{v1beta1}), Conversion{}, "v1alpha1 v1beta1* by webhook-service"},
		{"no program does", ds, of(ds, v1beta1, list{v1beta1}, unconverted), Conversion{},
			"objects are stored as v1beta1, and no webhook converts them to v1alpha1, which controllers read: run with --enable-webhooks and --register-webhooks"},
		{"it was converted by none", ds, of(ds, v1beta1, list{v1beta1}, unconverted), converts, "v1alpha1 v1beta1* by /convert"},
		{"a version of a later release", ds, of(ds, alpha, list{alpha, "v1"}), converts,
			"status.storedVersions: objects may be stored as v1, want only v1alpha1, which this release has"},
		{"likewise, of a kind that has one, of which the API server says it", other, of(other, alpha, list{alpha, "v1"}), converts, "v1alpha1*"},
		{"the server has just read it", ds, of(ds, alpha, list{alpha, "v1"}), Conversion{Target: &byURL, Read: func(name string) bool { return name == ds }}, "v1alpha1*"},
		{"the server has just read another one", bj, of(bj, v1beta1, list{v1beta1}), Conversion{Read: func(name string) bool { return name == ds }}, "v1alpha1 v1beta1* by itself"},
		{"v1beta1 is to be served of what it has read", bj, nil, Conversion{ServeV1beta1: true, Target: &byURL, Read: func(string) bool { return true }}, "v1alpha1* v1beta1 by itself"},
		{"another program writes caBundles: that of the standing one stays", ds, of(ds, v1beta1, list{v1beta1}, believed), Conversion{Target: &keeping}, "v1alpha1 v1beta1* by /convert with bW9yZQ=="},
		{"likewise, there is none", ds, of(ds, v1beta1, list{v1beta1}), Conversion{Target: &keeping}, "v1alpha1 v1beta1* by /convert"},
		{"PF-5: the own caBundle comes in its place", ds, of(ds, v1beta1, list{v1beta1}, believed), converts, "v1alpha1 v1beta1* by /convert with Y2E="},
		{"a kind that has one", other, of(other, alpha, list{alpha}), serves, "v1alpha1*"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var objects []runtime.Object
			if test.standing != nil {
				objects = append(objects, test.standing)
			}
			cluster := fakedynamic.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{crds.Resource: "CustomResourceDefinitionList"}, objects...)
			crd := asItComes(t, test.definition)
			err := KeepVersions(t.Context(), cluster, []*unstructured.Unstructured{crd}, test.conversion)
			got := described(crd)
			if bundle, _, _ := unstructured.NestedString(crd.Object, caBundleOf...); strings.Contains(test.want, " with ") {
				got += " with " + bundle
			}
			if err != nil {
				got = err.Error()
			}
			if err == nil && got != test.want || err != nil && !strings.HasPrefix(got, "keeping the versions of the CRD "+test.definition+": "+test.want) {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// The target is known when the webhooks are registered, and what it is then.
func TestTarget(t *testing.T) {
	f := newFixture(t)
	if f.s.Target() != nil {
		t.Error("there is one before anything is registered")
	}
	f.reconcile("at first", "create Secret", "use", "register", "patch CustomResourceDefinition")
	if f.s.Plain(onDemand[0].names[0]) {
		t.Error("a definition that is not there was read")
	}
	want := &manager.Target{URL: byURL.URL, Namespace: "kruise-system", CABundle: f.used["ca-cert.pem"]}
	if diff := cmp.Diff(want, f.s.Target()); diff != "" {
		t.Errorf("target (-want +got):\n%s", diff)
	}
}

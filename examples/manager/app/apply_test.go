// SPDX-License-Identifier: Apache-2.0

package app_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/podwright/podwright/examples/kit/crds"
)

// applied is a kind in two versions, of which one program applies something in each.
type applied struct {
	resource string
	// base is what the creator wants, alpha what one wants in v1alpha1, and beta what another one wants in v1beta1: YAML of the spec.
	base, alpha, beta string
	// alphaAt and betaAt are the paths to that.
	alphaAt, betaAt []string
	want            [2]any // of both
}

// appliesEveryKind has two programs apply an object of every kind with both versions, one in v1alpha1 and one in v1beta1. Neither takes
// away what the other one wants, and what a program no longer wants goes. (PF-5.2)
func (w *fixture) appliesEveryKind() {
	w.Helper()
	for _, kind := range bothVersions {
		w.Run("server-side apply of "+kind.resource, func(t *testing.T) {
			f := *w
			f.T = t
			f.appliesBoth(kind)
		})
	}
	w.appliesPartsOfFields()
}

func (w *fixture) appliesBoth(a applied) {
	w.Helper()
	crd, err := w.dynamic.Resource(crds.Resource).Get(w.Context(), a.resource+".apps.kruise.io", metav1.GetOptions{})
	if err != nil {
		w.Fatal(err)
	}
	kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
	apply := func(manager, version, spec string) {
		w.Helper()
		w.eventually(manager+" applies "+spec, func() error { // a controller may write in between
			object := w.object(fmt.Sprintf("{apiVersion: apps.kruise.io/%s, kind: %s, metadata: {name: both}, spec: %s}", version, kind, spec))
			if manager == "creator" {
				object.SetLabels(map[string]string{"apps.kruise.io/fake-nodeimage": "true"}) // what has no node stays
			}
			_, err := w.in(version, a.resource).Apply(w.Context(), "both", object, metav1.ApplyOptions{FieldManager: manager, Force: true})
			return err
		})
	}
	expect := func(step string, alpha, beta any) {
		w.Helper()
		for _, version := range []string{"v1alpha1", "v1beta1"} {
			object := w.get(version, a.resource, "both").Object
			got, _, _ := unstructured.NestedFieldCopy(object, append([]string{"spec"}, a.alphaAt...)...)
			if diff := cmp.Diff(alpha, got); diff != "" {
				w.Errorf("PF-5.2: %s: in %s that of v1alpha1 (-want +got):\n%s", step, version, diff)
			}
		}
		got, _, _ := unstructured.NestedFieldCopy(w.get("v1beta1", a.resource, "both").Object, append([]string{"spec"}, a.betaAt...)...)
		if diff := cmp.Diff(beta, got); diff != "" {
			w.Errorf("PF-5.2: %s: that of v1beta1 (-want +got):\n%s", step, diff)
		}
	}
	apply("creator", "v1beta1", a.base)
	apply("beta", "v1beta1", a.beta)
	apply("alpha", "v1alpha1", a.alpha)
	expect("both apply", a.want[0], a.want[1])
	apply("beta", "v1beta1", a.beta)
	apply("alpha", "v1alpha1", a.alpha)
	expect("both apply again", a.want[0], a.want[1])
	apply("beta", "v1beta1", "{}")
	expect("what v1beta1 wanted goes", a.want[0], nil)
	apply("beta", "v1beta1", a.beta)
	apply("alpha", "v1alpha1", "{}")
	expect("what v1alpha1 wanted goes", nil, a.want[1])
}

// SPDX-License-Identifier: Apache-2.0

package kinds_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/podwright/podwright/distribution"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/workloads"
)

func TestCRDs(t *testing.T) {
	for _, area := range []struct {
		crds func() []*unstructured.Unstructured
		want []string
	}{
		{workloads.CRDs, []string{"advancedcronjobs.apps.kruise.io", "broadcastjobs.apps.kruise.io", "clonesets.apps.kruise.io", "daemonsets.apps.kruise.io", "statefulsets.apps.kruise.io", "uniteddeployments.apps.kruise.io"}},
		{lifecycle.CRDs, []string{"containerrecreaterequests.apps.kruise.io", "ephemeraljobs.apps.kruise.io", "nodepodprobes.apps.kruise.io", "podprobemarkers.apps.kruise.io"}},
		{distribution.CRDs, []string{"imagepulljobs.apps.kruise.io", "nodeimages.apps.kruise.io", "persistentpodstates.apps.kruise.io", "resourcedistributions.apps.kruise.io", "workloadspreads.apps.kruise.io"}},
	} {
		var got []string
		for _, crd := range area.crds() {
			if kind := crd.GetAPIVersion() + " " + crd.GetKind(); kind != "apiextensions.k8s.io/v1 CustomResourceDefinition" {
				t.Errorf("%s is a %s", crd.GetName(), kind)
			}
			got = append(got, crd.GetName())
			crd.SetName("changed") // it belongs to the caller
		}
		if diff := cmp.Diff(area.want, got); diff != "" {
			t.Errorf("names (-want +got):\n%s", diff)
		}
		if name := area.crds()[0].GetName(); name == "changed" {
			t.Error("a change of one caller is seen by the next")
		}
	}
}

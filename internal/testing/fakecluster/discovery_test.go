// SPDX-License-Identifier: Apache-2.0

package fakecluster_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/restmapper"

	"github.com/podwright/podwright/internal/testing/fakecluster"
)

// Clients find out what is served, and at which paths.
func TestDiscovery(t *testing.T) {
	f := newFixture(t)
	groups, err := restmapper.GetAPIGroupResources(f.kube.Discovery())
	if err != nil {
		t.Fatal(err)
	}
	mapper := restmapper.NewDiscoveryRESTMapper(groups)
	for kind, want := range map[string]string{
		"Pod.v1.": "/v1, Resource=pods namespace", "Node.v1.": "/v1, Resource=nodes root", "ControllerRevision.v1.apps": "apps/v1, Resource=controllerrevisions namespace",
		"CloneSet.v1alpha1.apps.kruise.io": "apps.kruise.io/v1alpha1, Resource=clonesets namespace",
	} {
		parsed, _ := schema.ParseKindArg(kind)
		mapping, err := mapper.RESTMapping(parsed.GroupKind(), parsed.Version)
		if err != nil {
			t.Fatal(err)
		}
		if got := mapping.Resource.String() + " " + string(mapping.Scope.Name()); got != want {
			t.Errorf("%s is %s, want %s", kind, got, want)
		}
	}
	list, err := f.kube.Discovery().ServerResourcesForGroupVersion("apps.kruise.io/v1alpha1")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range list.APIResources {
		names = append(names, r.Name)
	}
	if diff := cmp.Diff([]string{"clonesets", "clonesets/status"}, names); diff != "" {
		t.Errorf("resources (-want +got):\n%s", diff)
	}
	if _, err := f.kube.Discovery().ServerResourcesForGroupVersion("apps.kruise.io/v1"); !apierrors.IsNotFound(err) {
		t.Errorf("a version that is not served: error %v", err)
	}
	if counted := f.Count("test"); len(counted) > 0 {
		t.Errorf("questions about what is served count as requests: %v", counted)
	}
}

// A group prefers its most mature version.
func TestPreferredVersion(t *testing.T) {
	var resources []fakecluster.Resource
	for _, version := range []string{"v1beta1", "v1", "v2alpha1"} {
		kind := schema.GroupVersionKind{Group: "example.com", Version: version, Kind: "Toy"}
		resources = append(resources, fakecluster.CustomResource(kind, "toys"))
	}
	kube, err := kubernetes.NewForConfig(fakecluster.New(nil, resources...).Config("test"))
	if err != nil {
		t.Fatal(err)
	}
	groups, err := kube.Discovery().ServerGroups()
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range groups.Groups {
		if g.Name == "example.com" && (g.PreferredVersion.Version != "v1" || len(g.Versions) != 3) {
			t.Errorf("of %v %s is preferred", g.Versions, g.PreferredVersion.Version)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package image

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"
)

func TestFilter(t *testing.T) {
	for _, test := range []struct {
		name, image string
		owners      []string
		filter      Filter
		want        string   // empty: it is pulled
		namespaces  []string // whose secrets it uses
	}{
		{"no filter", "nginx", []string{"a"}, Filter{}, "", []string{"a"}},
		{"no filter and no owner", "nginx", nil, Filter{}, "", nil},
		{"IMG-3.10: a namespace", "nginx", []string{"a"}, Filter{Namespaces: []string{"b", "a"}}, "", []string{"a"}},
		{"IMG-3.10: another one", "nginx", []string{"c"}, Filter{Namespaces: []string{"b", "a"}}, "this node pulls no images for the namespaces that ask for it: c", nil},
		{"IMG-3.10: by wildcard", "nginx", []string{"team-a"}, Filter{Namespaces: []string{"team-*"}}, "", []string{"team-a"}},
		{"IMG-3.10: of two owners, the secrets of the one that passes", "nginx", []string{"a", "b"}, Filter{Namespaces: []string{"b"}}, "", []string{"b"}},
		{"IMG-3.10: nobody owns it", "nginx", nil, Filter{Namespaces: []string{"*"}}, "this node pulls no images for the namespaces that ask for it: ", nil},
		{"IMG-3.10: a registry", "quay.io/web", []string{"a"}, Filter{Registries: []string{"gcr.io", "quay.io"}}, "", []string{"a"}},
		{"IMG-3.10: another one", "quay.io/web", []string{"a"}, Filter{Registries: []string{"gcr.io"}}, "this node pulls no images from quay.io/web", nil},
		{"IMG-3.10: Docker Hub", "nginx", []string{"a"}, Filter{Registries: []string{"docker.io/library"}}, "", []string{"a"}},
		{"IMG-3.10: no registry at all", "nginx", []string{"a"}, Filter{Registries: []string{}}, "this node pulls no images from docker.io/library/nginx", nil},
		{"IMG-3.10: a part of a registry", "quay.io/team/web", []string{"a"}, Filter{Registries: []string{"*.io/team"}}, "", []string{"a"}},
		{"IMG-3.10: another part", "quay.io/teams/web", []string{"a"}, Filter{Registries: []string{"*.io/team"}}, "this node pulls no images from quay.io/teams/web", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			if err := test.filter.Validate(); err != nil {
				t.Fatal(err)
			}
			for _, present := range []bool{false, true} {
				s := &Snapshot{NodeImage: newNodeImage(wants(test.image, "1", ownedBy(test.owners...))), Images: []*criv1.Image{}, Concurrency: 1, Filter: test.filter, Now: now}
				if present {
					s.Images = append(s.Images, onNode("x", test.image+":1", "docker.io/library/"+test.image+":1"))
				}
				plan := NewPlan(s)
				status := plan.Status.ImageStatuses[test.image].Tags[0]
				if test.want != "" && (len(plan.Start) > 0 || status.Phase != "Failed" || status.Message != test.want) {
					t.Errorf("status %+v, start %v", status, plan.Start)
				}
				if test.want == "" && !present && len(plan.Start) != 1 || test.want == "" && present && status.Phase != "Succeeded" {
					t.Errorf("not pulled: %+v", status)
				}
				if len(plan.Start) == 1 {
					if diff := cmp.Diff(test.namespaces, plan.Start[0].Namespaces); diff != "" {
						t.Errorf("namespaces (-want +got):\n%s", diff)
					}
				}
			}
		})
	}
}

func TestMatchesRegistry(t *testing.T) {
	for _, test := range []struct {
		registry, image string
		want            bool
	}{
		{"quay.io", "quay.io/web:1", true}, {"quay.io/team", "quay.io/team/web@" + digest, true}, {"quay.io", "nginx", false},
		{"docker.io", "nginx", true}, {"*.io", "quay.io/web", true}, {"quay.io", "UPPER", false}, {"", "my_registry.local/web", false},
	} {
		if got := MatchesRegistry(test.registry, test.image); got != test.want {
			t.Errorf("%s is from %s: %t", test.image, test.registry, got)
		}
	}
}

func TestFilterIsValidated(t *testing.T) {
	for _, filter := range []Filter{{Namespaces: []string{""}}, {Namespaces: []string{"["}}, {Registries: []string{""}}, {Registries: []string{"[.io"}}} {
		if err := filter.Validate(); err == nil || !strings.Contains(err.Error(), "Filter.") {
			t.Errorf("%+v: error %v", filter, err)
		}
	}
}

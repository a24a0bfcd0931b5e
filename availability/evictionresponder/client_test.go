// SPDX-License-Identifier: Apache-2.0

package evictionresponder_test

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/podwright/podwright/availability/evictionresponder"
)

// discovered answers every question about a group and version in the same way.
type discovered struct {
	discovery.ServerResourcesInterface
	resources []metav1.APIResource
	err       error
}

func (d discovered) ServerResourcesForGroupVersion(version string) (*metav1.APIResourceList, error) {
	if version != "lifecycle.k8s.io/v1alpha1" {
		return nil, errors.New("asked for " + version)
	}
	return &metav1.APIResourceList{APIResources: d.resources}, d.err
}

// EVR-12: what the API server serves.
func TestServed(t *testing.T) {
	for _, test := range []struct {
		name   string
		server discovered
		want   bool
		fails  bool
	}{
		{"an older one", discovered{err: apierrors.NewNotFound(schema.GroupResource{}, "")}, false, false},
		{"one with the API", discovered{resources: []metav1.APIResource{{Name: "evictionrequests"}, {Name: "evictions"}, {Name: "evictions/status"}}}, true, false},
		{"one with a part of it", discovered{resources: []metav1.APIResource{{Name: "evictionrequests"}}}, false, false},
		{"one that does not answer", discovered{err: errors.New("connection refused")}, false, true},
	} {
		if got, err := evictionresponder.Served(test.server); got != test.want || (err != nil) != test.fails {
			t.Errorf("%s: served %v, error %v", test.name, got, err)
		}
	}
}

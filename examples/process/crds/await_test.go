// SPDX-License-Identifier: Apache-2.0

package crds

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

// answers are those of an API server to one question after another; the last one
// is repeated.
type answers struct {
	discovery.ServerResourcesInterfaceWithContext
	given []error
	asked int
}

func (a *answers) ServerResourcesForGroupVersionWithContext(context.Context, string) (*metav1.APIResourceList, error) {
	answer := a.given[min(a.asked, len(a.given)-1)]
	a.asked++
	return &metav1.APIResourceList{APIResources: []metav1.APIResource{{Name: "clonesets"}}}, answer
}

func TestAwait(t *testing.T) {
	missing := apierrors.NewNotFound(schema.GroupResource{}, "")
	cases := map[string]struct {
		answers      []error
		lasts        time.Duration
		served       bool
		asked, tells int
	}{
		"PF-4: it is there":                   {[]error{nil}, time.Hour, true, 1, 0},
		"PF-4: it appears, and is told once":  {[]error{missing, missing, missing, nil}, time.Hour, true, 4, 1},
		"PF-4: no answer says nothing of it":  {[]error{errors.New("down"), nil}, time.Hour, true, 2, 0},
		"PF-4: it is missing after no answer": {[]error{errors.New("down"), missing, nil}, time.Hour, true, 3, 1},
		"the end comes first":                 {[]error{missing}, 90 * time.Second, false, 2, 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), c.lasts)
				defer cancel()
				server, told := &answers{given: c.answers}, 0
				resource := schema.GroupVersionResource{Group: "apps.kruise.io", Version: "v1alpha1", Resource: "clonesets"}
				served := Await(ctx, server, resource, time.Minute, func() { told++ }) == nil
				if served != c.served || server.asked != c.asked || told != c.tells {
					t.Errorf("served %t after %d questions, missing told %d times; want %t, %d, %d", served, server.asked, told, c.served, c.asked, c.tells)
				}
			})
		})
	}
}

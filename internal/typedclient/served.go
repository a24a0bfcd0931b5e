// SPDX-License-Identifier: Apache-2.0

package typedclient

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

// Served tells whether the API server serves a resource now.
func Served(ctx context.Context, client discovery.ServerResourcesInterface, resource schema.GroupVersionResource) (bool, error) {
	found, err := FindServed(ctx, client, resource.GroupVersion(), func(r *metav1.APIResource) bool { return r.Name == resource.Resource })
	if err != nil {
		return false, fmt.Errorf("ask whether %s is served: %w", resource.GroupResource(), err)
	}
	return found != nil, nil
}

// FindServed returns the first resource of a version that the API server serves and that matches; nil if there is none.
func FindServed(ctx context.Context, client discovery.ServerResourcesInterface, version schema.GroupVersion, matches func(*metav1.APIResource) bool) (*metav1.APIResource, error) {
	ask := func(_ context.Context, groupVersion string) (*metav1.APIResourceList, error) {
		return client.ServerResourcesForGroupVersion(groupVersion)
	}
	if cancelled, ok := client.(withContext); ok {
		ask = cancelled.ServerResourcesForGroupVersionWithContext
	}
	list, err := ask(ctx, version.String())
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for i := range list.APIResources {
		if r := &list.APIResources[i]; matches(r) {
			return r, nil
		}
	}
	return nil, nil
}

// withContext is what clients of client-go v0.37 and newer have beside: a question that ends with the context.
type withContext interface {
	ServerResourcesForGroupVersionWithContext(ctx context.Context, groupVersion string) (*metav1.APIResourceList, error)
}

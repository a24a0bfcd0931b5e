// SPDX-License-Identifier: Apache-2.0

package apiwriter

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright"
)

// Live reads a resource at the API server itself, past all caches. A resource
// without namespaces is asked with the empty one.
type Live interface {
	// Read returns the metadata of an object, or an error for which
	// apierrors.IsNotFound holds.
	Read(ctx context.Context, namespace, name string) (metav1.Object, error)
	// Newest returns the resourceVersion that the resource has come to in a
	// namespace: a cache that has come so far shows every write made before.
	Newest(ctx context.Context, namespace string) (resourceVersion string, err error)
}

// Registry says of each resource that a controller writes how to read it. Its nil
// value knows none.
type Registry map[podwright.Resource]Live

// Find returns the version at which a cache shows what became of a write that had
// no answer. It is empty if there is nothing to wait for. If the object is gone
// and the cache still shows it, that is how far the API server has come by now at the latest.
// shown tells whether the cache does.
func (r Registry) Find(
	ctx context.Context, resource podwright.Resource, namespace, name string, shown func() (bool, error),
) (resourceVersion string, gone bool, err error) {
	live, found := r[resource]
	if !found {
		return "", false, fmt.Errorf("nothing is registered to read %s with", resource)
	}
	object, err := live.Read(ctx, namespace, name)
	if err == nil {
		return object.GetResourceVersion(), false, nil
	}
	if !apierrors.IsNotFound(err) {
		return "", false, err
	}
	if shown, err := shown(); !shown || err != nil {
		return "", false, err
	}
	resourceVersion, err = live.Newest(ctx, namespace)
	return resourceVersion, true, err
}

// Newest returns the resourceVersion that a resource has come to in a namespace;
// empty if it cannot be asked.
func (r Registry) Newest(ctx context.Context, namespace string, resource podwright.Resource) (resourceVersion string, err error) {
	live, found := r[resource]
	if !found {
		return "", nil
	}
	return live.Newest(ctx, namespace)
}

// Exists tells whether there is an object of that name that the owner controls.
func (r Registry) Exists(ctx context.Context, resource podwright.Resource, namespace, name string, owner types.UID) (bool, error) {
	live, found := r[resource]
	if !found {
		return false, fmt.Errorf("nothing is registered to read %s with", resource)
	}
	object, err := live.Read(ctx, namespace, name)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	controller := metav1.GetControllerOfNoCopy(object)
	return controller != nil && controller.UID == owner, nil
}

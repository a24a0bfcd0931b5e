// Package crds installs CustomResourceDefinitions and tells whether a kind is
// served.
package crds

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
)

// Resource is that of CustomResourceDefinitions.
var Resource = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// Of returns the definitions of some resources: a manager installs what it
// looks after, and nothing that nobody serves.
func Of(definitions []*unstructured.Unstructured, resources ...schema.GroupVersionResource) []*unstructured.Unstructured {
	return slices.DeleteFunc(definitions, func(d *unstructured.Unstructured) bool {
		return !slices.ContainsFunc(resources, func(r schema.GroupVersionResource) bool {
			return d.GetName() == r.GroupResource().String()
		})
	})
}

// Install applies the definitions (server-side apply, also over fields that
// somebody else has set) and waits until the API server serves them all, for
// half a minute at most. Where a definition stands already, nothing changes.
func Install(ctx context.Context, client dynamic.Interface, definitions []*unstructured.Unstructured) error {
	for _, definition := range definitions {
		options := metav1.ApplyOptions{FieldManager: "podwright-manager", Force: true}
		if _, err := client.Resource(Resource).Apply(ctx, definition.GetName(), definition, options); err != nil {
			return fmt.Errorf("installing the CRD %s: %w", definition.GetName(), err)
		}
	}
	for _, definition := range definitions {
		if err := waitEstablished(ctx, client, definition.GetName()); err != nil {
			return err
		}
	}
	return nil
}

func waitEstablished(ctx context.Context, client dynamic.Interface, name string) error {
	last := errors.New("it has not been read yet")
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
		definition, err := client.Resource(Resource).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			last = err
			return false, nil
		}
		last = NotEstablished(definition)
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("waiting for the API server to serve the CRD %s: %w: %w", name, err, last)
	}
	return nil
}

// NotEstablished returns nil when the API server serves a definition, and what
// it says against it otherwise.
func NotEstablished(definition *unstructured.Unstructured) error {
	conditions, _, err := unstructured.NestedSlice(definition.Object, "status", "conditions")
	if err != nil {
		return err
	}
	reason := errors.New("it has no condition Established yet")
	for _, item := range conditions {
		condition, _ := item.(map[string]any)
		kind, status := condition["type"], condition["status"]
		switch {
		case kind == "Established" && status == "True":
			return nil
		case kind == "NamesAccepted" && status == "False", kind == "Established":
			reason = fmt.Errorf("condition %v is %v: %v", kind, status, condition["message"])
		}
	}
	return reason
}

// Served tells whether the API server serves a resource now.
func Served(ctx context.Context, client discovery.ServerResourcesInterfaceWithContext, resource schema.GroupVersionResource) (bool, error) {
	list, err := client.ServerResourcesForGroupVersionWithContext(ctx, resource.GroupVersion().String())
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("asking whether %s is served: %w", resource.GroupResource(), err)
	}
	for _, served := range list.APIResources {
		if served.Name == resource.Resource {
			return true, nil
		}
	}
	return false, nil
}

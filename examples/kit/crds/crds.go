// SPDX-License-Identifier: Apache-2.0

// Package crds installs CustomResourceDefinitions.
package crds

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
)

// Resource is that of CustomResourceDefinitions.
var Resource = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// Of returns the definitions of some resources: a program installs what it manages, and nothing that no program serves.
func Of(definitions []*unstructured.Unstructured, resources ...schema.GroupVersionResource) []*unstructured.Unstructured {
	return slices.DeleteFunc(definitions, func(d *unstructured.Unstructured) bool {
		return !slices.ContainsFunc(resources, func(r schema.GroupVersionResource) bool { return d.GetName() == r.GroupResource().String() })
	})
}

// Install applies the definitions (server-side apply, also over fields that another writer has set). It waits until the
// API server serves them all, for half a minute at most. If a definition stands already, nothing changes.
func Install(ctx context.Context, client dynamic.Interface, definitions []*unstructured.Unstructured) error {
	for _, definition := range definitions {
		options := metav1.ApplyOptions{FieldManager: "podwright-manager", Force: true}
		applied, err := client.Resource(Resource).Apply(ctx, definition.GetName(), definition, options)
		if err != nil {
			return fmt.Errorf("installing the CRD %s: %w", definition.GetName(), err)
		}
		last := notEstablished(applied)
		err = wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
			if last == nil {
				return true, nil
			}
			if applied, last = client.Resource(Resource).Get(ctx, definition.GetName(), metav1.GetOptions{}); last == nil {
				last = notEstablished(applied)
			}
			return last == nil, nil
		})
		if err != nil {
			return fmt.Errorf("waiting for the API server to serve the CRD %s: %w: %w", definition.GetName(), err, last)
		}
	}
	return nil
}

// notEstablished returns nil when the API server serves a definition, and what it says against it otherwise.
func notEstablished(definition *unstructured.Unstructured) error {
	conditions, _, err := unstructured.NestedSlice(definition.Object, "status", "conditions")
	if err != nil {
		return err
	}
	reason := errors.New("it has no condition Established yet")
	for _, item := range conditions {
		condition, _ := item.(map[string]any)
		switch kind, status := condition["type"], condition["status"]; {
		case kind == "Established" && status == "True":
			return nil
		case kind == "NamesAccepted" && status == "False", kind == "Established":
			reason = fmt.Errorf("condition %v is %v: %v", kind, status, condition["message"])
		}
	}
	return reason
}

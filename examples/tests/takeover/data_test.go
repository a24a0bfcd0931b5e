// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"
)

// read reads the objects of YAML files, those that others own last.
func read(t *testing.T, files ...string) (objects []*unstructured.Unstructured) {
	t.Helper()
	for _, file := range files {
		content, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, document := range strings.Split(string(content), "\n---\n") {
			u := &unstructured.Unstructured{}
			if err := yaml.UnmarshalStrict([]byte(document), &u.Object); err != nil {
				t.Fatalf("%s: %v in\n%s", file, err, document)
			}
			objects = append(objects, u)
		}
	}
	slices.SortStableFunc(objects, func(a, b *unstructured.Unstructured) int {
		return len(a.GetOwnerReferences()) - len(b.GetOwnerReferences())
	})
	return objects
}

// leave stores objects with their status, as OpenKruise leaves them. Those that are being deleted are deleted.
func (c *cluster) leave(objects []*unstructured.Unstructured) {
	c.Helper()
	uids := map[string]types.UID{}
	for _, u := range objects {
		c.stored(u)
		owners := u.GetOwnerReferences()
		for i := range owners {
			if owners[i].UID = uids[owners[i].Kind+"/"+owners[i].Name]; owners[i].UID == "" {
				c.Fatalf("%s %s: its owner %s %s comes later", u.GetKind(), u.GetName(), owners[i].Kind, owners[i].Name)
			}
		}
		u.SetOwnerReferences(owners)
		if labels := u.GetLabels(); labels["broadcastjob-controller-uid"] != "" {
			labels["broadcastjob-controller-uid"] = string(owners[0].UID)
			u.SetLabels(labels)
		}
		deleted := u.GetDeletionTimestamp()
		u.SetDeletionTimestamp(nil)
		made, err := c.client(u).Create(c.ctx, u, metav1.CreateOptions{})
		if err != nil {
			c.Fatalf("%s %s: %v", u.GetKind(), u.GetName(), err)
		}
		uids[u.GetKind()+"/"+u.GetName()] = made.GetUID()
		if status, found := u.Object["status"]; found {
			made.Object["status"] = status
			_, err := c.client(u).UpdateStatus(c.ctx, made, metav1.UpdateOptions{})
			if apierrors.IsNotFound(err) { // it has no such subresource
				_, err = c.client(u).Update(c.ctx, made, metav1.UpdateOptions{})
			}
			if err != nil {
				c.Fatalf("the status of %s %s: %v", u.GetKind(), u.GetName(), err)
			}
		}
		if deleted != nil {
			if err := c.client(u).Delete(c.ctx, u.GetName(), metav1.DeleteOptions{}); err != nil {
				c.Fatal(err)
			}
		}
	}
}

// client is that of an object's kind and namespace.
func (c *cluster) client(u *unstructured.Unstructured) dynamic.ResourceInterface {
	c.Helper()
	mapping, err := c.mapper.RESTMapping(u.GroupVersionKind().GroupKind(), u.GroupVersionKind().Version)
	if err != nil {
		c.Fatal(err)
	}
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		return c.dynamic.Resource(mapping.Resource)
	}
	return c.dynamic.Resource(mapping.Resource).Namespace(u.GetNamespace())
}

// stored brings an object to the version in which the cluster has its kind.
func (c *cluster) stored(u *unstructured.Unstructured) {
	c.Helper()
	kind := u.GroupVersionKind()
	if _, err := c.mapper.RESTMapping(kind.GroupKind(), kind.Version); !meta.IsNoMatchError(err) {
		return
	}
	wanted, err := c.mapper.RESTMapping(kind.GroupKind())
	document, _ := json.Marshal(u.Object)
	if err == nil {
		document, err = converters[kind.Kind](document, schema.GroupVersion{Group: kind.Group, Version: wanted.GroupVersionKind.Version}.String())
	}
	if err == nil {
		u.Object = nil
		err = json.Unmarshal(document, &u.Object)
	}
	if err != nil {
		c.Fatalf("%s %s: %v", kind.Kind, u.GetName(), err)
	}
	if u.GetOwnerReferences() == nil {
		u.SetOwnerReferences(nil)
	}
}

// get returns an object as the cluster has it; nil if it is gone.
func (c *cluster) get(kind schema.GroupKind, namespace, name string) *unstructured.Unstructured {
	c.Helper()
	mapping, err := c.mapper.RESTMapping(kind)
	if err != nil {
		c.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(mapping.GroupVersionKind)
	u.SetNamespace(namespace)
	found, err := c.client(u).Get(context.Background(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		c.Fatal(fmt.Errorf("%s %s: %w", kind.Kind, name, err))
	}
	return found
}

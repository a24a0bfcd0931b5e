// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
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

// uidOf matches what stands for the UID of an object that comes before: UID(Pod/web-0).
var uidOf = regexp.MustCompile(`UID\(([^)]+)\)`)

// site is a cluster in which objects are left, in memory or real.
type site struct {
	*testing.T
	ctx     context.Context
	dynamic dynamic.Interface
	mapper  meta.RESTMapper
	uids    map[string]types.UID // of what was left, by kind and name
	real    bool                 // controllers of Kubernetes and kubelets write statuses
}

// filesOf are those that say what a release leaves.
func filesOf(release string) []string {
	return []string{"common.yaml", "kinds.yaml", release + "/installation.yaml", release + "/objects.yaml", release + "/kinds.yaml"}
}

// read reads the objects of YAML files, those that name others last. The text is changed first.
func read(t *testing.T, change func(string) string, files ...string) (objects []*unstructured.Unstructured) {
	t.Helper()
	later := map[*unstructured.Unstructured]int{}
	for _, file := range files {
		content, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, document := range strings.Split(change(string(content)), "\n---\n") {
			u := &unstructured.Unstructured{}
			if err := yaml.UnmarshalStrict([]byte(document), &u.Object); err != nil {
				t.Fatalf("%s: %v in\n%s", file, err, document)
			}
			objects = append(objects, u)
			if len(u.GetOwnerReferences()) > 0 || uidOf.MatchString(document) {
				later[u] = 1
			}
		}
	}
	slices.SortStableFunc(objects, func(a, b *unstructured.Unstructured) int { return later[a] - later[b] })
	return objects
}

// leave stores objects with their status, as OpenKruise leaves them. Those that are being deleted are deleted.
func (c *site) leave(objects []*unstructured.Unstructured) {
	c.Helper()
	for _, u := range objects {
		c.stored(u)
		c.fillUIDs(u)
		deleted := u.GetDeletionTimestamp()
		u.SetDeletionTimestamp(nil)
		made, err := c.client(u).Create(c.ctx, u, metav1.CreateOptions{})
		if err != nil {
			c.Fatalf("%s %s: %v", u.GetKind(), u.GetName(), err)
		}
		c.uids[u.GetKind()+"/"+u.GetName()] = made.GetUID()
		if status, found := u.Object["status"]; found {
			c.leaveStatus(made, status)
		}
		if deleted != nil {
			if err := c.client(u).Delete(c.ctx, u.GetName(), metav1.DeleteOptions{}); err != nil {
				c.Fatal(err)
			}
		}
	}
}

// leaveStatus stores the status of an object. That of a pod is the kubelet's too, and of a Job its controller's.
func (c *site) leaveStatus(u *unstructured.Unstructured, status any) {
	c.Helper()
	var err error
	switch client := c.client(u); {
	case u.GetKind() == "Pod" && c.real:
		patch, _ := json.Marshal(map[string]any{"status": status})
		_, err = client.Patch(c.ctx, u.GetName(), types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	case c.real && !strings.HasSuffix(u.GroupVersionKind().Group, "kruise.io"):
	default:
		u.Object["status"] = status
		if _, err = client.UpdateStatus(c.ctx, u, metav1.UpdateOptions{}); apierrors.IsNotFound(err) { // it has no such subresource
			_, err = client.Update(c.ctx, u, metav1.UpdateOptions{})
		}
	}
	if err != nil {
		c.Fatalf("the status of %s %s: %v", u.GetKind(), u.GetName(), err)
	}
}

// fillUIDs puts UIDs in place of the names of owners, and of what stands for UIDs.
func (c *site) fillUIDs(u *unstructured.Unstructured) {
	c.Helper()
	known := func(name string) types.UID {
		uid := c.uids[name]
		if uid == "" {
			c.Fatalf("%s %s names %s, which comes later", u.GetKind(), u.GetName(), name)
		}
		return uid
	}
	document, err := json.Marshal(u.Object)
	if err == nil {
		document = uidOf.ReplaceAllFunc(document, func(named []byte) []byte { return []byte(known(string(named[len("UID(") : len(named)-1]))) })
		u.Object = nil
		err = json.Unmarshal(document, &u.Object)
	}
	if err != nil {
		c.Fatal(err)
	}
	owners := u.GetOwnerReferences()
	for i := range owners {
		owners[i].UID = known(owners[i].Kind + "/" + owners[i].Name)
	}
	u.SetOwnerReferences(owners)
}

// client is that of an object's kind and namespace.
func (c *site) client(u *unstructured.Unstructured) dynamic.ResourceInterface {
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
func (c *site) stored(u *unstructured.Unstructured) {
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
func (c *site) get(kind schema.GroupKind, namespace, name string) *unstructured.Unstructured {
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

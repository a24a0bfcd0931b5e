// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/pager"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/examples/kubectl-podwright/workload"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// reader is the podwright.Reader by which reconcilers observe the cluster. It asks the API server instead of caches, once for each
// list, and has no indexes. It returns the workload that it is about whatever its name.
type reader struct {
	ctx    context.Context
	kube   kubernetes.Interface
	lister workload.Lister
	pods   metav1.ListOptions // which pods are listed; default all

	asked  podwright.Resource // that of the workload
	object any
	lists  map[list][]any
}

type list struct {
	resource  podwright.Resource
	namespace string
}

// about returns a Reader of a workload.
func (r *reader) about(resource podwright.Resource, object any) *reader {
	r.asked, r.object = resource, object
	return r
}

// options are those of a Reconciler that plans and does nothing.
func (p *Planner) options(r *reader) podwright.ControllerOptions {
	return podwright.ControllerOptions{Reader: r, AllowStaleReads: true, Clock: p.clock}
}

// Open has nothing to do.
func (r *reader) Open(podwright.Resource, runtime.Object, ...podwright.Index) error { return nil }

// SyncedResourceVersion says nothing: what is read is as new as can be, and nothing is written.
func (r *reader) SyncedResourceVersion(podwright.Resource) string { return "" }

// Get returns an object.
func (r *reader) Get(resource podwright.Resource, namespace, name string) (any, error) {
	switch resource {
	case r.asked:
		return r.object, nil
	case "nodes":
		return r.kube.CoreV1().Nodes().Get(r.ctx, name, metav1.GetOptions{})
	case "namespaces":
		return r.kube.CoreV1().Namespaces().Get(r.ctx, name, metav1.GetOptions{})
	}
	all, err := r.List(resource, namespace)
	if err != nil {
		return nil, err
	}
	for _, object := range all {
		if object.(metav1.Object).GetName() == name {
			return object, nil
		}
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Resource: string(resource)}, name)
}

// List returns the objects of a namespace, or of all if it is empty.
func (r *reader) List(resource podwright.Resource, namespace string) (all []any, err error) {
	all, found := r.lists[list{resource, namespace}]
	if found {
		return all, nil
	}
	if all, err = r.list(resource, namespace); err != nil {
		return nil, err
	}
	r.keep(resource, namespace, all)
	return all, nil
}

// keep keeps a list.
func (r *reader) keep(resource podwright.Resource, namespace string, all []any) {
	if r.lists == nil {
		r.lists = map[list][]any{}
	}
	r.lists[list{resource, namespace}] = all
}

// ByIndex returns the objects for which an index has a key.
func (r *reader) ByIndex(resource podwright.Resource, namespace string, index podwright.Index, key string) (found []any, err error) {
	all, err := r.List(resource, namespace)
	for _, object := range all {
		keys, err := index.Keys(object)
		if err != nil {
			return nil, err
		}
		if slices.Contains(keys, key) {
			found = append(found, object)
		}
	}
	return found, err
}

// list asks the API server, page by page.
func (r *reader) list(resource podwright.Resource, namespace string) ([]any, error) {
	every := metav1.ListOptions{}
	switch resource {
	case "pods":
		return r.pages(r.pods, func(o metav1.ListOptions) (runtime.Object, error) {
			return r.kube.CoreV1().Pods(namespace).List(r.ctx, o)
		})
	case "persistentvolumeclaims":
		return r.pages(every, func(o metav1.ListOptions) (runtime.Object, error) {
			return r.kube.CoreV1().PersistentVolumeClaims(namespace).List(r.ctx, o)
		})
	case "nodes":
		return r.pages(every, func(o metav1.ListOptions) (runtime.Object, error) { return r.kube.CoreV1().Nodes().List(r.ctx, o) })
	}
	return r.listWorkloads(resource, namespace)
}

// listWorkloads asks for revisions, and for what a UnitedDeployment makes.
func (r *reader) listWorkloads(resource podwright.Resource, namespace string) ([]any, error) {
	every := metav1.ListOptions{}
	switch resource {
	case "controllerrevisions":
		return r.pages(every, func(o metav1.ListOptions) (runtime.Object, error) {
			return r.kube.AppsV1().ControllerRevisions(namespace).List(r.ctx, o)
		})
	case "statefulsets":
		return r.pages(every, func(o metav1.ListOptions) (runtime.Object, error) {
			return r.kube.AppsV1().StatefulSets(namespace).List(r.ctx, o)
		})
	case "deployments":
		return r.pages(every, func(o metav1.ListOptions) (runtime.Object, error) {
			return r.kube.AppsV1().Deployments(namespace).List(r.ctx, o)
		})
	case "clonesets":
		sets, err := workload.ListAs[v1alpha1.CloneSet](r.ctx, r.lister, cloneSets, namespace)
		return untyped(sets), err
	case "advancedstatefulsets":
		return r.advancedStatefulSets(namespace)
	}
	return nil, &meta.NoResourceMatchError{PartialResource: schema.GroupVersionResource{Resource: string(resource)}}
}

// pages returns what a list has, which is asked for in pages.
func (r *reader) pages(options metav1.ListOptions, list func(metav1.ListOptions) (runtime.Object, error)) (all []any, err error) {
	err = pager.New(pager.SimplePageFunc(list)).EachListItem(r.ctx, options, func(object runtime.Object) error {
		all = append(all, object)
		return nil
	})
	return all, err
}

func (r *reader) advancedStatefulSets(namespace string) (sets []any, err error) {
	all, err := r.lister.Objects(r.ctx, advancedStatefulSets, namespace)
	for _, o := range all {
		set, err := statefulSetOf(o)
		if err != nil {
			return nil, err
		}
		sets = append(sets, set)
	}
	return sets, err
}

func untyped[T any](objects []T) []any {
	all := make([]any, len(objects))
	for i, object := range objects {
		all[i] = object
	}
	return all
}

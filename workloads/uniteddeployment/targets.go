// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/apiwriter"
)

// target reads and writes the workloads of one kind past the caches.
type target struct {
	apiwriter.Live
	resource podwright.Resource
	// get returns a workload as JSON.
	get    func(ctx context.Context, key types.NamespacedName) ([]byte, error)
	create func(ctx context.Context, w Object) (resourceVersion string, err error)
	merge  apiwriter.Merge
	delete func(ctx context.Context, key types.NamespacedName, uid types.UID) error
}

// objects is the part of a typed client that a target uses.
type objects[T, L any] interface {
	Create(ctx context.Context, object T, opts metav1.CreateOptions) (T, error)
	Get(ctx context.Context, name string, opts metav1.GetOptions) (T, error)
	List(ctx context.Context, opts metav1.ListOptions) (L, error)
	Patch(ctx context.Context, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (T, error)
	Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error
}

// newTarget is the target of a typed client, which is called with a namespace.
func newTarget[C objects[T, L], T Object, L metav1.ListInterface](resource podwright.Resource, client func(namespace string) C) target {
	return target{
		resource: resource, Live: apiwriter.Typed[C, T, L](client), merge: apiwriter.TypedMerge[C, T](client),
		get: func(ctx context.Context, key types.NamespacedName) ([]byte, error) {
			object, err := client(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
			if err != nil {
				return nil, err
			}
			return json.Marshal(object)
		},
		create: func(ctx context.Context, w Object) (string, error) {
			object, ok := w.(T)
			if !ok {
				return "", fmt.Errorf("a %T is no workload of %s", w, resource)
			}
			created, err := client(w.GetNamespace()).Create(ctx, object, metav1.CreateOptions{})
			if err != nil {
				return "", err
			}
			return created.GetResourceVersion(), nil
		},
		delete: func(ctx context.Context, key types.NamespacedName, uid types.UID) error {
			background := metav1.DeletePropagationBackground
			return client(key.Namespace).Delete(ctx, key.Name, metav1.DeleteOptions{PropagationPolicy: &background, Preconditions: &metav1.Preconditions{UID: &uid}})
		},
	}
}

// targets are those of the kinds of templates that the options allow.
func (o *Options) targets() map[TemplateKind]target {
	all := map[TemplateKind]target{
		StatefulSet:         newTarget(resourceStatefulSets, o.Kubernetes.AppsV1().StatefulSets),
		AdvancedStatefulSet: newTarget(resourceAdvancedStatefulSets, o.Workloads.StatefulSets),
		CloneSet:            newTarget(resourceCloneSets, o.Workloads.CloneSets),
		Deployment:          newTarget(resourceDeployments, o.Kubernetes.AppsV1().Deployments),
	}
	for _, kind := range o.Without {
		delete(all, kind)
	}
	return all
}

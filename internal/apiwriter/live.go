// SPDX-License-Identifier: Apache-2.0

package apiwriter

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/internal/consistency"
)

const onlyObjectMetadata = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"

// Read returns the metadata of an object as the API server has it.
func (r Resource) Read(ctx context.Context, namespace, name string) (metav1.Object, error) {
	raw, err := r.Client.Get().Namespace(namespace).Resource(r.Name).Name(name).
		SetHeader("Accept", onlyObjectMetadata).Do(ctx).Raw()
	if err != nil {
		return nil, err
	}
	object := &metav1.PartialObjectMetadata{}
	if err := json.Unmarshal(raw, object); err != nil {
		return nil, fmt.Errorf("read the metadata of %s %s: %w", r.Name, name, err)
	}
	return object, nil
}

// Pods returns the resource of pods.
func Pods(client kubernetes.Interface) Resource {
	return Resource{Client: client.CoreV1().RESTClient(), Name: string(consistency.Pods)}
}

// Claims returns the resource of claims.
func Claims(client kubernetes.Interface) Resource {
	return Resource{Client: client.CoreV1().RESTClient(), Name: string(consistency.Claims)}
}

// Revisions returns the resource of ControllerRevisions.
func Revisions(client kubernetes.Interface) Resource {
	return Resource{Client: client.AppsV1().RESTClient(), Name: string(consistency.Revisions)}
}

// Typed reads the objects of a typed client, which is called with a namespace.
func Typed[C reader[T, L], T metav1.Object, L metav1.ListInterface](client func(namespace string) C) consistency.Live {
	return typed[C, T, L]{client}
}

// reader is the part of a typed client that reads.
type reader[T metav1.Object, L metav1.ListInterface] interface {
	Get(ctx context.Context, name string, opts metav1.GetOptions) (T, error)
	List(ctx context.Context, opts metav1.ListOptions) (L, error)
}

type typed[C reader[T, L], T metav1.Object, L metav1.ListInterface] struct{ client func(string) C }

func (t typed[C, T, L]) Read(ctx context.Context, namespace, name string) (metav1.Object, error) {
	object, err := t.client(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	return object, nil
}

func (t typed[C, T, L]) Newest(ctx context.Context, namespace string) (string, error) {
	list, err := t.client(namespace).List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return "", err
	}
	return list.GetResourceVersion(), nil
}

// TypedCluster is Typed for a resource without namespaces.
func TypedCluster[C reader[T, L], T metav1.Object, L metav1.ListInterface](client func() C) consistency.Live {
	return typed[C, T, L]{func(string) C { return client() }}
}

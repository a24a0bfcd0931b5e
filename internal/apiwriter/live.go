// SPDX-License-Identifier: Apache-2.0

package apiwriter

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
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

// Found returns what a read gave, nil if there is no such object.
func Found[T any](object *T, err error) (*T, error) {
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return object, err
}

// Pods returns the resource of pods.
func Pods(client kubernetes.Interface) Resource {
	return Resource{Client: client.CoreV1().RESTClient(), Name: "pods"}
}

// Claims returns the resource of claims.
func Claims(client kubernetes.Interface) Resource {
	return Resource{Client: client.CoreV1().RESTClient(), Name: "persistentvolumeclaims"}
}

// Revisions returns the resource of ControllerRevisions.
func Revisions(client kubernetes.Interface) Resource {
	return Resource{Client: client.AppsV1().RESTClient(), Name: "controllerrevisions"}
}

// InNamespace reads a resource in one namespace, for objects that have none themselves.
func InNamespace(namespace string, of Live) Live { return inNamespace{of, namespace} }

type inNamespace struct {
	Live
	namespace string
}

func (l inNamespace) Read(ctx context.Context, _, name string) (metav1.Object, error) {
	return l.Live.Read(ctx, l.namespace, name)
}

func (l inNamespace) Newest(ctx context.Context, _ string) (string, error) {
	return l.Live.Newest(ctx, l.namespace)
}

// InAnyNamespace reads a resource, for objects that have no namespace themselves, by names
// that begin with the namespace and a slash. How far it is tells that of one namespace,
// empty for all.
func InAnyNamespace(namespace string, of Live) Live { return inAnyNamespace{of, namespace} }

type inAnyNamespace struct {
	Live
	namespace string
}

func (l inAnyNamespace) Read(ctx context.Context, _, name string) (metav1.Object, error) {
	namespace, name, found := strings.Cut(name, "/")
	if !found {
		return nil, fmt.Errorf("the name %q has no namespace in front", namespace)
	}
	return l.Live.Read(ctx, namespace, name)
}

func (l inAnyNamespace) Newest(ctx context.Context, _ string) (string, error) {
	return l.Live.Newest(ctx, l.namespace)
}

// Package writes sends the writes of a controller. It reads no more of an
// answer than the resourceVersion at which a cache will show the write: the
// API server is asked to leave out the rest, which otherwise costs it and the
// controller more than the write itself.
package writes

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

// Object is what can be written.
type Object interface {
	runtime.Object
	metav1.Object
}

// Resource writes the objects of one namespaced resource.
type Resource struct {
	// Client is the REST client of the resource's group and version.
	Client rest.Interface
	// Name is the plural name, "pods" for example.
	Name string
}

// Create creates an object and returns the resourceVersion of the write.
func (r Resource) Create(ctx context.Context, object Object) (resourceVersion string, err error) {
	return send(ctx, r.Client.Post().Namespace(object.GetNamespace()).Resource(r.Name).Body(object))
}

// Patch patches an object, or its subresource where that is not empty, and
// returns the resourceVersion of the write.
func (r Resource) Patch(ctx context.Context, object Object, subresource string, patch types.PatchType, data []byte) (resourceVersion string, err error) {
	request := r.Client.Patch(patch).Namespace(object.GetNamespace()).Resource(r.Name).Name(object.GetName())
	if subresource != "" {
		request = request.SubResource(subresource)
	}
	return send(ctx, request.Body(data))
}

// Delete deletes an object, if it is still the one with that UID. It returns
// the resourceVersion of the deletion, empty where the object was gone already.
func (r Resource) Delete(ctx context.Context, object Object) (resourceVersion string, err error) {
	uid := object.GetUID()
	resourceVersion, err = send(ctx, r.Client.Delete().
		Namespace(object.GetNamespace()).Resource(r.Name).Name(object.GetName()).
		Body(&metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}}))
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return "", nil
	}
	return resourceVersion, err
}

// Version returns the present resourceVersion of an object.
func (r Resource) Version(ctx context.Context, namespace, name string) (resourceVersion string, err error) {
	return send(ctx, r.Client.Get().Namespace(namespace).Resource(r.Name).Name(name))
}

// Newest returns the resourceVersion that the resource has come to in a
// namespace: a cache that has come so far shows every write that was made before.
func (r Resource) Newest(ctx context.Context, namespace string) (resourceVersion string, err error) {
	raw, err := r.Client.Get().Namespace(namespace).Resource(r.Name).Param("limit", "1").
		SetHeader("Accept", onlyListMetadata).Do(ctx).Raw()
	if err != nil {
		return "", err
	}
	return versionOf(raw)
}

const onlyListMetadata = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"

// onlyMetadata asks for the metadata of the written object, in the cheapest
// encoding that the server has.
const onlyMetadata = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1," +
	"application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"

func send(ctx context.Context, request *rest.Request) (string, error) {
	result := request.SetHeader("Accept", onlyMetadata).Do(ctx)
	if err := result.Error(); err != nil {
		return "", err
	}
	raw, err := result.Raw()
	if err != nil {
		return "", err
	}
	version, err := versionOf(raw)
	if err != nil {
		return "", fmt.Errorf("read the answer to a write: %w", err)
	}
	return version, nil
}

var metadata = func() runtime.Decoder {
	scheme := runtime.NewScheme()
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		panic(err) // the types of apimachinery itself
	}
	return serializer.NewCodecFactory(scheme).UniversalDeserializer()
}()

var protobufPrefix = []byte("k8s\x00")

// versionOf reads the version of an object in JSON or protobuf, or of a list in JSON.
func versionOf(raw []byte) (string, error) {
	if !bytes.HasPrefix(raw, protobufPrefix) {
		var object metav1.PartialObjectMetadata
		if err := json.Unmarshal(raw, &object); err != nil {
			return "", err
		}
		return object.ResourceVersion, nil
	}
	object, _, err := metadata.Decode(raw, nil, nil)
	if err != nil {
		return "", err
	}
	found, ok := object.(metav1.Object)
	if !ok {
		return "", fmt.Errorf("it holds a %T where the metadata of an object is wanted", object)
	}
	return found.GetResourceVersion(), nil
}

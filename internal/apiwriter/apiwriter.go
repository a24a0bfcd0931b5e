// SPDX-License-Identifier: Apache-2.0

// Package apiwriter sends the writes of a controller, side by side within bounds, and
// holds its next reconcile back until the caches show them.
//
// Of an answer it reads no more than the resourceVersion at which a cache will show the
// write. The API server is asked to leave out the rest, which otherwise costs it and the
// controller more than the write itself.
//
// A [Store] remembers one resourceVersion per object and resource, not a list of expected events. Of a
// write whose answer was lost it remembers that there may be one. Until the next reconcile it remembers
// what was created, so that a cache that leaves some out is noticed. So an event that is lost in a
// relist leaves nothing behind that would block the next reconcile forever. Neither does a pod that is
// created and deleted again before the cache sees it.
package apiwriter

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"google.golang.org/protobuf/encoding/protowire"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
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

// CheckClient returns an error if a clientset is nil or cannot send writes,
// to follow the name of the option that holds it.
func CheckClient(client kubernetes.Interface) error {
	if client == nil {
		return errors.New("is nil: it needs a clientset, kubernetes.NewForConfig makes one")
	}
	if rest, ok := client.CoreV1().RESTClient().(*rest.RESTClient); ok && rest == nil {
		return errors.New("has no REST client, as the fake clientset of client-go has none: package workloads/fakecluster is an API server in memory, kubernetes.NewForConfig(server.Config(...)) a clientset of it")
	}
	return nil
}

// Create creates an object and returns the resourceVersion of the write.
func (r Resource) Create(ctx context.Context, object Object) (resourceVersion string, err error) {
	return send(ctx, r.Client.Post().Namespace(object.GetNamespace()).Resource(r.Name).Body(object))
}

// CreateRead creates an object and returns its metadata as the API server has stored it: admission may have changed it.
func (r Resource) CreateRead(ctx context.Context, object Object) (*metav1.PartialObjectMetadata, error) {
	raw, err := answer(ctx, r.Client.Post().Namespace(object.GetNamespace()).Resource(r.Name).Body(object))
	if err != nil {
		return nil, err
	}
	stored, err := metadataOf(raw)
	if err != nil {
		return nil, fmt.Errorf("read the answer to a creation: %w", err)
	}
	return stored, nil
}

// TryCreate asks the API server whether it would accept an object in the place of one of
// its name, which changes nothing. That the name is taken is what it says last, and no
// refusal. One that cannot tell, since a webhook takes no dry runs, refuses nothing.
func (r Resource) TryCreate(ctx context.Context, object Object) error {
	_, err := send(ctx, r.Client.Post().Namespace(object.GetNamespace()).Resource(r.Name).Param("dryRun", metav1.DryRunAll).Body(object))
	if apierrors.IsAlreadyExists(err) || apierrors.IsBadRequest(err) {
		return nil
	}
	return err
}

// Update replaces an object, if it is as it was read, and returns the resourceVersion of
// the write.
func (r Resource) Update(ctx context.Context, object Object) (resourceVersion string, err error) {
	return send(ctx, r.Client.Put().Namespace(object.GetNamespace()).Resource(r.Name).Name(object.GetName()).Body(object))
}

// Patch patches an object, or its subresource if that is not empty, and
// returns the resourceVersion of the write.
func (r Resource) Patch(ctx context.Context, object Object, subresource string, patch types.PatchType, data []byte) (resourceVersion string, err error) {
	return send(ctx, r.patch(object, subresource, patch, data))
}

// PatchRead is Patch for those who need to know what has become of the object, which admission may
// have changed. It is read into the last argument.
func (r Resource) PatchRead(ctx context.Context, object Object, subresource string, patch types.PatchType, data []byte, into Object) (resourceVersion string, err error) {
	if err := r.patch(object, subresource, patch, data).Do(ctx).Into(into); err != nil {
		return "", short(err)
	}
	return into.GetResourceVersion(), nil
}

// TryPatch asks the API server whether it would accept a patch, which changes
// nothing. One that cannot tell, since a webhook takes no dry runs, refuses nothing.
func (r Resource) TryPatch(ctx context.Context, object Object, subresource string, patch types.PatchType, data []byte) error {
	_, err := send(ctx, r.patch(object, subresource, patch, data).Param("dryRun", metav1.DryRunAll))
	if apierrors.IsBadRequest(err) {
		return nil
	}
	return err
}

func (r Resource) patch(object Object, subresource string, patch types.PatchType, data []byte) *rest.Request {
	request := r.Client.Patch(patch).Namespace(object.GetNamespace()).Resource(r.Name).Name(object.GetName())
	if subresource != "" {
		request = request.SubResource(subresource)
	}
	return request.Body(data)
}

// Delete deletes an object, if it is still the one with that UID. It returns
// the resourceVersion of the deletion, empty if the object was gone already.
func (r Resource) Delete(ctx context.Context, object Object) (resourceVersion string, err error) {
	uid := object.GetUID()
	resourceVersion, err = r.delete(ctx, object, metav1.Preconditions{UID: &uid})
	if apierrors.IsConflict(err) {
		return "", nil
	}
	return resourceVersion, err
}

// DeleteUnchanged is Delete for an object that is to be deleted because of the
// state in which it was read. It is a conflict if the object has changed since.
func (r Resource) DeleteUnchanged(ctx context.Context, object Object) (resourceVersion string, err error) {
	uid, version := object.GetUID(), object.GetResourceVersion()
	return r.delete(ctx, object, metav1.Preconditions{UID: &uid, ResourceVersion: &version})
}

func (r Resource) delete(ctx context.Context, object Object, p metav1.Preconditions) (resourceVersion string, err error) {
	resourceVersion, err = send(ctx, r.Client.Delete().
		Namespace(object.GetNamespace()).Resource(r.Name).Name(object.GetName()).
		Body(&metav1.DeleteOptions{Preconditions: &p}))
	if apierrors.IsNotFound(err) {
		return "", nil
	}
	return resourceVersion, err
}

// Newest returns the resourceVersion that the resource has come to in a
// namespace. A cache that has come so far shows every write that was made before.
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
	raw, err := answer(ctx, request)
	if err != nil {
		return "", err
	}
	version, err := versionOf(raw)
	if err != nil {
		return "", fmt.Errorf("read the answer to a write: %w", err)
	}
	return version, nil
}

// answer sends a write, and returns the metadata of what was written, encoded.
func answer(ctx context.Context, request *rest.Request) ([]byte, error) {
	result := request.SetHeader("Accept", onlyMetadata).Do(ctx)
	if err := result.Error(); err != nil {
		return nil, short(err) // that of Raw does not say what the API server said
	}
	return result.Raw()
}

// Final tells whether an error is the API server's, and the same request will get
// it again.
func Final(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsForbidden(err) ||
		apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err)
}

// Unanswered tells whether a write with an error may have been made all the same. Then there was
// no answer, or the server did not come to an end with it.
func Unanswered(err error) bool {
	var status apierrors.APIStatus
	return !errors.As(err, &status) || status.Status().Code >= http.StatusInternalServerError
}

var protobufPrefix = []byte("k8s\x00")

// The numbers of the fields that lead to the version, in the protobuf encoding
// of Kubernetes: the envelope's content, its metadata, and their version.
const (
	fieldRaw             protowire.Number = 2
	fieldMetadata        protowire.Number = 1
	fieldResourceVersion protowire.Number = 6
)

// versionOf reads the version of an object in JSON or protobuf, or of a list in
// JSON. It decodes nothing else: the managed fields beside it are many.
func versionOf(raw []byte) (string, error) {
	message, encoded := bytes.CutPrefix(raw, protobufPrefix)
	if !encoded {
		var object metav1.PartialObjectMetadata
		if err := json.Unmarshal(raw, &object); err != nil {
			return "", err
		}
		return object.ResourceVersion, nil
	}
	var err error
	for _, number := range []protowire.Number{fieldRaw, fieldMetadata, fieldResourceVersion} {
		if message, err = field(message, number); err != nil {
			return "", err
		}
	}
	return string(message), nil
}

// metadataOf reads the metadata of an object in JSON or protobuf.
func metadataOf(raw []byte) (*metav1.PartialObjectMetadata, error) {
	object := &metav1.PartialObjectMetadata{}
	message, encoded := bytes.CutPrefix(raw, protobufPrefix)
	if !encoded {
		return object, json.Unmarshal(raw, object)
	}
	message, err := field(message, fieldRaw)
	if err != nil {
		return nil, err
	}
	return object, object.Unmarshal(message)
}

// field returns the bytes of a field of a protobuf message, nil if it has none.
func field(message []byte, wanted protowire.Number) ([]byte, error) {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		message = message[n:]
		if number == wanted && kind == protowire.BytesType {
			value, n := protowire.ConsumeBytes(message)
			return value, protowire.ParseError(min(n, 0))
		}
		if n = protowire.ConsumeFieldValue(number, kind, message); n < 0 {
			return nil, protowire.ParseError(n)
		}
		message = message[n:]
	}
	return nil, nil
}

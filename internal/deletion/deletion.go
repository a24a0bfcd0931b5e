// Package deletion deletes objects and tells at which resourceVersion a cache
// shows it. The typed clients of client-go drop that part of the answer.
package deletion

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
)

// Object is what can be deleted.
type Object interface {
	runtime.Object
	metav1.Object
}

// Delete deletes an object of a namespaced resource, if it is still the one
// with that UID, and reads the answer into into. It returns the
// resourceVersion of the deletion, empty where the object was gone already.
func Delete(ctx context.Context, client rest.Interface, resource string, object Object, into Object) (resourceVersion string, err error) {
	uid := object.GetUID()
	err = client.Delete().
		Namespace(object.GetNamespace()).Resource(resource).Name(object.GetName()).
		Body(&metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}}).
		Do(ctx).Into(into)
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return into.GetResourceVersion(), nil
}

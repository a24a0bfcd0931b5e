// SPDX-License-Identifier: Apache-2.0

package fakecluster

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// create stores a new object.
func (s *Server) create(r *storage, req *Request) (any, error) {
	object, err := r.parse(req)
	if err != nil {
		return nil, err
	}
	if object.GetResourceVersion() != "" {
		return nil, badRequest(errors.New("resourceVersion must not be set on an object to be created"))
	}
	return s.createObject(r, req, object)
}

// createObject stores what a creation or an apply has made of nothing.
func (s *Server) createObject(r *storage, req *Request, object *unstructured.Unstructured) (any, error) {
	object, err := req.admitted(nil, object)
	if err != nil {
		return nil, err
	}
	if object.GetName() == "" && object.GetGenerateName() != "" {
		s.names++
		object.SetName(fmt.Sprintf("%s%05d", object.GetGenerateName(), s.names))
	}
	if s.mutate != nil {
		s.mutate(*req, object)
	}
	s.fill(r, object)
	errs := apivalidation.ValidateObjectMetaAccessor(object, !r.ClusterScoped, apivalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
	if err := invalid(r, object.GetName(), errs); err != nil {
		return nil, err
	}
	if r.objects[keyOf(object)] != nil {
		return nil, apierrors.NewAlreadyExists(r.groupResource(), object.GetName())
	}
	if req.DryRun {
		return object, nil
	}
	return s.commit(r, nil, object), nil
}

// fill sets what the server decides about a new object.
func (s *Server) fill(r *storage, object *unstructured.Unstructured) {
	s.uids++
	object.SetUID(types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", s.uids)))
	object.SetCreationTimestamp(metav1.NewTime(s.clock.Now()))
	object.SetDeletionTimestamp(nil)
	object.SetDeletionGracePeriodSeconds(nil)
	object.SetGeneration(0)
	if r.Generation {
		object.SetGeneration(1)
	}
	if r.Status && !r.ClusterScoped { // a node brings its status along
		delete(object.Object, "status")
	}
	if r.protected {
		object.SetFinalizers(append(object.GetFinalizers(), protection))
	}
	if r.prepare != nil {
		r.prepare(object)
	}
}

// parse reads the object in a request. Its namespace and, beside creations,
// its name are those of the path.
func (r *storage) parse(req *Request) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	if req.contentType != mediaJSON {
		return nil, failure(415, metav1.StatusReasonUnsupportedMediaType, "fakecluster reads %s, found %s", mediaJSON, req.contentType)
	}
	if err := decode(req.Body, &object.Object); err != nil {
		return nil, badRequest(err)
	}
	object, err := r.known(object)
	if err != nil {
		return nil, badRequest(err)
	}
	if object.GetNamespace() == "" {
		object.SetNamespace(req.Namespace)
	}
	if object.GetNamespace() != req.Namespace || req.Name != "" && object.GetName() != req.Name {
		return nil, badRequest(fmt.Errorf("the object is %s/%s, the path says %s/%s",
			object.GetNamespace(), object.GetName(), req.Namespace, req.Name))
	}
	return object, nil
}

// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/fakecluster"
)

// resource is how the API server knows a resource of the history, which must have it.
func (h *history) resource(name string) *fakecluster.Resource {
	for _, k := range h.kinds {
		if k.Resource.Name == name {
			return &k.Resource
		}
	}
	for i := range h.workload.Further {
		if f := &h.workload.Further[i]; f.Resource.Name == name {
			return &f.Resource
		}
	}
	panic("the history has no " + name)
}

// Objects returns the objects of a resource by name.
func (u *User) Objects(resource string) []Object {
	return sorted[Object](u.history.records[resource].objects)
}

// AnyObject picks an object of a resource, nil where there is none.
func (u *User) AnyObject(resource string, r *rand.Rand) Object {
	all := u.Objects(resource)
	if len(all) == 0 {
		return nil
	}
	return all[r.IntN(len(all))]
}

// Patch changes an object of a resource by a merge patch.
func (u *User) Patch(resource, name, patch string, subresources ...string) {
	k := kind{Workload: &Workload{Resource: *u.history.resource(resource)}}
	u.tell(fmt.Sprintf("patches %s %s %s", resource, name, patch), u.history.kube.CoreV1().RESTClient().Patch(types.MergePatchType).
		AbsPath(append([]string{k.path(), name}, subresources...)...).Body([]byte(patch)).Do(context.Background()).Error())
}

// DeleteObject deletes an object of a resource.
func (u *User) DeleteObject(resource, name string, policy metav1.DeletionPropagation) {
	k := kind{Workload: &Workload{Resource: *u.history.resource(resource)}}
	u.tell(fmt.Sprintf("deletes %s %s (%s)", resource, name, policy), u.history.kube.CoreV1().RESTClient().Delete().AbsPath(k.path(), name).
		Body(&metav1.DeleteOptions{PropagationPolicy: &policy}).Do(context.Background()).Error())
}

// CreateObject creates an object of a resource.
func (u *User) CreateObject(resource string, object Object) {
	k := kind{Workload: &Workload{Resource: *u.history.resource(resource)}}
	data, err := json.Marshal(object)
	if err == nil {
		err = u.history.kube.CoreV1().RESTClient().Post().AbsPath(k.path()).SetHeader("Content-Type", "application/json").
			Body(data).Do(context.Background()).Error()
	}
	u.tell(fmt.Sprintf("creates %s %s", resource, object.GetName()), err)
}

// Admit asks a replica of the webhook about an object that is to be created, as the API server does before it stores it. Nil:
// there is none.
func (u *User) Admit(request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	return (&Process{history: u.history}).Create(context.Background(), request)
}

// ReadyNode has a node of a name with a label Ring, which takes all pods.
func (u *User) ReadyNode(name, ring string) {
	h := u.history
	if h.records[nodes].objects[name] == nil {
		u.tell("adds node "+name, h.join(name, "a", ring))
		return
	}
	err := h.patchNode(name, map[string]any{"spec": map[string]any{"taints": nil, "unschedulable": nil},
		"metadata": map[string]any{"labels": map[string]any{Zone: "a", Ring: ring}}})
	u.tell("repairs node "+name, err)
}

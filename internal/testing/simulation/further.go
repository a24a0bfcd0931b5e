// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/fakecluster"
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

// pathOf is the path of an object of a resource that is called name, or NAMESPACE/NAME.
func (h *history) pathOf(resource, name string) string {
	k, namespace := kind{Subject: &Subject{Resource: *h.resource(resource)}}, Web.Namespace
	if in, of, found := strings.Cut(name, "/"); found {
		namespace, name = in, of
	}
	return k.pathIn(namespace) + "/" + name
}

// Objects returns the objects of a resource by namespace and name.
func (u *User) Objects(resource string) []Object {
	return sorted[Object](u.history.records[resource].objects)
}

// AnyObject picks an object of a resource, nil if there is none.
func (u *User) AnyObject(resource string, r *rand.Rand) Object {
	all := u.Objects(resource)
	if len(all) == 0 {
		return nil
	}
	return all[r.IntN(len(all))]
}

// Patch changes an object of a resource by a merge patch. Its name is NAMESPACE/NAME if it is not in the namespace of Web.
func (u *User) Patch(resource, name, patch string, subresources ...string) {
	u.tell(fmt.Sprintf("patches %s %s %s", resource, name, patch), u.history.kube.CoreV1().RESTClient().Patch(types.MergePatchType).
		AbsPath(append([]string{u.history.pathOf(resource, name)}, subresources...)...).Body([]byte(patch)).Do(context.Background()).Error())
}

// DeleteObject deletes an object of a resource. Its name is NAMESPACE/NAME if it is not in the namespace of Web.
func (u *User) DeleteObject(resource, name string, policy metav1.DeletionPropagation) {
	u.tell(fmt.Sprintf("deletes %s %s (%s)", resource, name, policy), u.history.kube.CoreV1().RESTClient().Delete().AbsPath(u.history.pathOf(resource, name)).
		Body(&metav1.DeleteOptions{PropagationPolicy: &policy}).Do(context.Background()).Error())
}

// CreateObject creates an object of a resource, in the namespace of Web unless it has one.
func (u *User) CreateObject(resource string, object Object) {
	k := kind{Subject: &Subject{Resource: *u.history.resource(resource)}}
	data, err := json.Marshal(object)
	if err == nil {
		err = u.history.kube.CoreV1().RESTClient().Post().AbsPath(k.pathIn(cmp.Or(object.GetNamespace(), Web.Namespace))).SetHeader("Content-Type", "application/json").
			Body(data).Do(context.Background()).Error()
	}
	u.tell(fmt.Sprintf("creates %s %s", resource, keyOfObject(object)), err)
}

// Admit asks a replica of the webhook about an object that is to be created, as the API server does before it stores it. Nil:
// there is none.
func (u *User) Admit(request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	return (&Process{history: u.history}).Create(context.Background(), request)
}

// ReadyNode has a node of a name with a label Ring, which takes all pods.
func (u *User) ReadyNode(name, ring string) { u.readyNode(name, "a", ring) }

// LabelNode changes labels of a node that is there: a nil value takes one away.
func (u *User) LabelNode(name string, labels map[string]any) {
	if u.history.records[nodes].objects[name] != nil {
		u.tell(fmt.Sprintf("labels node %s %v", name, labels), u.history.patchNode(name, map[string]any{"metadata": map[string]any{"labels": labels}}))
	}
}

func (u *User) readyNode(name, zone, ring string) {
	h := u.history
	if h.records[nodes].objects[name] == nil {
		u.tell("adds node "+name, h.join(name, zone, ring))
		return
	}
	if h.dead[name] {
		return // users cannot help it
	}
	err := h.patchNode(name, map[string]any{"spec": map[string]any{"taints": nil, "unschedulable": nil},
		"metadata": map[string]any{"labels": map[string]any{Zone: zone, Ring: ring}}})
	u.tell("repairs node "+name, err)
}

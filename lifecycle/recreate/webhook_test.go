// SPDX-License-Identifier: Apache-2.0

package recreate_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/podwright/podwright/lifecycle/recreate"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// review asks about an object; old is empty for a new one.
func review(object, old string) *admissionv1.AdmissionRequest {
	r := &admissionv1.AdmissionRequest{
		Operation: admissionv1.Create, Namespace: "shop", Name: "restart",
		Kind:     metav1.GroupVersionKind{Group: "apps.kruise.io", Version: "v1alpha1", Kind: "ContainerRecreateRequest"},
		Resource: metav1.GroupVersionResource{Group: "apps.kruise.io", Version: "v1alpha1", Resource: "containerrecreaterequests"},
		Object:   runtime.RawExtension{Raw: []byte(object)},
	}
	if old != "" {
		r.Operation, r.OldObject.Raw = admissionv1.Update, []byte(old)
	}
	return r
}

func encode(t *testing.T, object any) string {
	t.Helper()
	data, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// pods is a lookup that knows the pod web-0 of the namespace shop.
func pods(_ context.Context, namespace, name string) (*corev1.Pod, error) {
	if pod := runningPod(); namespace == pod.Namespace && name == pod.Name {
		return pod, nil
	}
	return nil, apierrors.NewNotFound(corev1.Resource("pods"), name)
}

// CRR-3: the codes on the wire.
func TestWebhookCodes(t *testing.T) {
	unreachable := func(context.Context, string, string) (*corev1.Pod, error) { return nil, errors.New("no route to host") }
	terminating := func(context.Context, string, string) (*corev1.Pod, error) { return runningPod(leaving), nil }
	forbidden := func(context.Context, string, string) (*corev1.Pod, error) {
		return nil, apierrors.NewForbidden(corev1.Resource("pods"), "web-0", errors.New("no"))
	}
	of := func(edits ...func(*v1alpha1.ContainerRecreateRequest)) string { return encode(t, newRequest(edits...)) }
	stored := encode(t, request())
	lookup := recreate.Webhook{Pods: pods}
	for _, test := range []struct {
		name    string
		webhook recreate.Webhook
		object  string
		old     string
		code    int32 // 0: allowed
		message string
	}{
		{"CRR-3.2: right", lookup, of(), "", 0, ""},
		{"CRR-3: gate KruiseDaemon is off, CREATE", recreate.Webhook{Disabled: true}, of(), "", 403,
			`containerrecreaterequests.apps.kruise.io "restart" is forbidden: feature-gate KruiseDaemon is not enabled`},
		{"CRR-3: gate KruiseDaemon is off, UPDATE", recreate.Webhook{Disabled: true}, stored, stored, 403,
			`containerrecreaterequests.apps.kruise.io "restart" is forbidden: feature-gate KruiseDaemon is not enabled`},
		{"CRR-3.2: not JSON", lookup, "{", "", 400, "object: want a ContainerRecreateRequest as JSON: unexpected end of JSON input"},
		{"CRR-3.2.3", lookup, of(deadline(1)), "", 400,
			`ContainerRecreateRequest.apps.kruise.io "restart" is invalid: spec.activeDeadlineSeconds: Invalid value: 1: must be 3 or more`},
		{"CRR-3.2.3 comes before CRR-3.2.6", recreate.Webhook{Pods: unreachable}, of(deadline(1)), "", 400,
			`ContainerRecreateRequest.apps.kruise.io "restart" is invalid: spec.activeDeadlineSeconds: Invalid value: 1: must be 3 or more`},
		{"CRR-3.2.6: no such pod", lookup, of(func(r *v1alpha1.ContainerRecreateRequest) { r.Spec.PodName = "web-7" }), "", 400,
			`spec.podName: there is no pod "web-7" in namespace "shop"`},
		{"CRR-3.2.6: the pod cannot be read", recreate.Webhook{Pods: unreachable}, of(), "", 500,
			"Internal error occurred: read pod shop/web-0: no route to host"},
		{"CRR-3.2.6: the pod must not be read", recreate.Webhook{Pods: forbidden}, of(), "", 500,
			`Internal error occurred: read pod shop/web-0: pods "web-0" is forbidden: no`},
		{"CRR-3.2.6: nothing to look pods up with", recreate.Webhook{}, of(), "", 500,
			"Internal error occurred: the webhook cannot look up pods: Webhook.Pods is nil"},
		{"CRR-3.2.7", recreate.Webhook{Pods: terminating}, of(), "", 400,
			`ContainerRecreateRequest.apps.kruise.io "restart" is invalid: spec.podName: Invalid value: "web-0": the pod is being deleted`},
		{"CRR-3.2.9", lookup, of(containers("other")), "", 400,
			`ContainerRecreateRequest.apps.kruise.io "restart" is invalid: spec.containers[0].name: Invalid value: "other": pod web-0 has no such container; init and ephemeral containers cannot be recreated`},
		{"CRR-3.1: nothing changes", lookup, stored, stored, 0, ""},
		{"CRR-3.1: other metadata", lookup, encode(t, request(inactive, held(), annotated(syncAnnotation, "[]"), annotated(acquired, "now"))), stored, 0, ""},
		{"CRR-3.1: the spec", lookup, encode(t, request(deadline(5))), stored, 403,
			`ContainerRecreateRequest.apps.kruise.io "restart" is invalid: spec: Forbidden: spec of ContainerRecreateRequest is immutable: create another one`},
		{"CRR-3.1: a label", lookup, encode(t, request(func(r *v1alpha1.ContainerRecreateRequest) { r.Labels = nil })), encode(t, request(func(r *v1alpha1.ContainerRecreateRequest) {
			delete(r.Labels, v1alpha1.ContainerRecreateRequestNodeNameLabel)
		})), 403, `ContainerRecreateRequest.apps.kruise.io "restart" is invalid: metadata.labels[crr.apps.kruise.io/pod-uid]: Forbidden: it is immutable and has to stay "u"`},
		{"CRR-3.1: the pod is not looked at", recreate.Webhook{}, stored, stored, 0, ""},
		{"CRR-3.1: the stored one is not JSON", lookup, stored, "[", 400, "oldObject: want a ContainerRecreateRequest as JSON: unexpected end of JSON input"},
	} {
		t.Run(test.name, func(t *testing.T) {
			response := test.webhook.Default(t.Context(), review(test.object, test.old))
			var code int32
			var message string
			if !response.Allowed {
				code, message = response.Result.Code, response.Result.Message
			}
			if code != test.code || message != test.message {
				t.Errorf("code %d, %q\nwant %d, %q", code, message, test.code, test.message)
			}
		})
	}
}

// CRR-3.3, CRR-3.1: what the API server stores.
func TestWebhookPatches(t *testing.T) {
	webhook := recreate.Webhook{Pods: pods}
	object := `{"apiVersion":"apps.kruise.io/v1alpha1","kind":"ContainerRecreateRequest","metadata":{"name":"restart"},
		"spec":{"podName":"web-0","containers":[{"name":"main","newer":1}],"newer":2}}`
	response := webhook.Default(t.Context(), review(object, ""))
	patch, err := jsonpatch.DecodePatch(response.Patch)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := patch.Apply([]byte(object))
	if err != nil {
		t.Fatal(err)
	}
	var got, want any
	if err := errors.Join(json.Unmarshal(stored, &got), json.Unmarshal([]byte(`{"apiVersion":"apps.kruise.io/v1alpha1","kind":"ContainerRecreateRequest",
		"metadata":{"name":"restart","labels":{"crr.apps.kruise.io/active":"true","crr.apps.kruise.io/node-name":"node-1","crr.apps.kruise.io/pod-uid":"u"}},
		"spec":{"podName":"web-0","containers":[{"name":"main","newer":1,"statusContext":{"containerID":"containerd://m1","restartCount":1}}],"newer":2,
		"strategy":{"failurePolicy":"Fail","terminationGracePeriodSeconds":40}}}`), &want)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
	if response := webhook.Default(t.Context(), review(string(stored), string(stored))); !response.Allowed || response.Patch != nil {
		t.Errorf("CRR-3.1: an update is changed or refused: %+v", response)
	}
}

// What is not the webhook's business is allowed.
func TestWebhookAllowsTheRest(t *testing.T) {
	webhook := recreate.Webhook{Disabled: true}
	for name, change := range map[string]func(*admissionv1.AdmissionRequest){
		"another kind":        func(r *admissionv1.AdmissionRequest) { r.Kind.Kind = "CloneSet" },
		"the status":          func(r *admissionv1.AdmissionRequest) { r.SubResource = "status" },
		"a deletion":          func(r *admissionv1.AdmissionRequest) { r.Operation = admissionv1.Delete },
		"a kind of that name": func(r *admissionv1.AdmissionRequest) { r.Kind.Group = "example.com" },
	} {
		r := review("{}", "")
		change(r)
		if response := webhook.Default(t.Context(), r); !response.Allowed || response.Patch != nil {
			t.Errorf("%s: %+v", name, response)
		}
	}
}

func TestHandlers(t *testing.T) {
	webhook := &recreate.Webhook{}
	var paths []string
	for path := range webhook.Handlers() {
		paths = append(paths, path)
	}
	if diff := cmp.Diff([]string{"/mutate-apps-kruise-io-v1alpha1-containerrecreaterequest"}, paths); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
}

// FuzzWebhook sends arbitrary objects: whatever is allowed is filled in, and can
// be saved again.
func FuzzWebhook(f *testing.F) {
	f.Add(`{"spec":{"podName":"web-0","containers":[{"name":"main"}]}}`, "")
	f.Add(`{"metadata":{"labels":{"a":null}},"spec":{"podName":"web-0","containers":[{"name":"main"},{"name":"side"}],"strategy":{"unreadyGracePeriodSeconds":3}}}`, "")
	f.Add(`{"spec":{"podName":"web-0","containers":[null]}}`, `{"metadata":{"annotations":{"crr.apps.kruise.io/unready-acquired":"x"}}}`)
	f.Add(`{"spec":{"strategy":null,"containers":[{"name":"main","preStop":{}}]}}`, `{"spec":{"containers":[{"name":"main","preStop":{"sleep":{"seconds":1}}}]}}`)
	f.Add(`null`, `{}`)
	f.Fuzz(func(t *testing.T, object, old string) {
		webhook := recreate.Webhook{Pods: pods}
		response := webhook.Default(context.Background(), review(object, old))
		if !response.Allowed {
			if code := response.Result.Code; code != http.StatusBadRequest && code != http.StatusForbidden || response.Result.Message == "" {
				t.Errorf("refused with the code %d: %q", code, response.Result.Message)
			}
			return
		}
		if old != "" || response.Patch == nil {
			return
		}
		patch, err := jsonpatch.DecodePatch(response.Patch)
		if err != nil {
			t.Fatal(err)
		}
		stored, err := patch.Apply([]byte(object))
		if err != nil {
			return // the two readers of JSON differ, in what is no good JSON
		}
		if again := webhook.Default(context.Background(), review(string(stored), string(stored))); !again.Allowed {
			t.Errorf("%s cannot be saved again: %s", stored, again.Result.Message)
		}
	})
}

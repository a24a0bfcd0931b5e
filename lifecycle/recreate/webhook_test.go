// SPDX-License-Identifier: Apache-2.0

package recreate_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/lifecycle/recreate"
)

// review asks about an object.
var review = conformance.Requests("v1alpha1", "ContainerRecreateRequest", "containerrecreaterequests")

// pods is a lookup that knows the pod web-0 of the namespace shop.
func pods(_ context.Context, namespace, name string) (*corev1.Pod, error) {
	if pod := runningPod(); namespace == pod.Namespace && name == pod.Name {
		return pod, nil
	}
	return nil, apierrors.NewNotFound(corev1.Resource("pods"), name)
}

var errNoRoute = errors.New("no route to host")

// answers are what looking up a pod gives, by the argument pod of a script.
var answers = map[string]recreate.PodLookup{
	"unreachable": func(context.Context, string, string) (*corev1.Pod, error) { return nil, errNoRoute },
	"terminating": func(context.Context, string, string) (*corev1.Pod, error) { return runningPod("leaving"), nil },
	"forbidden": func(context.Context, string, string) (*corev1.Pod, error) {
		return nil, apierrors.NewForbidden(corev1.Resource("pods"), "web-0", errors.New("no"))
	},
	"nothing": nil,
}

// nodeOf looks up the node of web-0, which has the type that is given, or is gone or out of reach.
func nodeOf(t *testing.T, kind string) recreate.NodeLookup {
	return func(_ context.Context, name string) (*corev1.Node, error) {
		if name != runningPod().Spec.NodeName {
			t.Errorf("node %q is looked up", name)
		}
		switch kind {
		case "gone":
			return nil, apierrors.NewNotFound(corev1.Resource("nodes"), name)
		case "unreachable":
			return nil, errNoRoute
		case "none":
			return &corev1.Node{}, nil
		}
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"type": kind}}}, nil
	}
}

// TestAdmission plays what the webhook says, in testdata/admission: see conformance.PlayAdmission. It looks pods up by pods, or by one of answers with
// the argument pod, and nodes with the argument node: see nodeOf.
func TestAdmission(t *testing.T) {
	conformance.PlayAdmission(t, "testdata/admission", conformance.Admission{
		Kind: "ContainerRecreateRequest", Resource: "containerrecreaterequests",
		Object: "{metadata: {namespace: shop, name: restart}, spec: {podName: web-0, containers: [{name: main}]}}",
		New: func(args map[string][]string) conformance.Served {
			webhook := &recreate.Webhook{Pods: pods}
			if pod := args["pod"]; pod != nil {
				webhook.Pods = answers[pod[0]]
			}
			if node := args["node"]; node != nil {
				webhook.Nodes = nodeOf(t, node[0])
			}
			return webhook
		}})
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
		op := admissionv1.Create
		if old != "" {
			op = admissionv1.Update
		}
		response := webhook.Default(context.Background(), review(op, object, old))
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
		if again := webhook.Default(context.Background(), review(admissionv1.Update, string(stored), string(stored))); !again.Allowed {
			t.Errorf("%s cannot be saved again: %s", stored, again.Result.Message)
		}
	})
}

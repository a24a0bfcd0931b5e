// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	corev1listers "k8s.io/client-go/listers/core/v1"
	clienttesting "k8s.io/client-go/testing"

	"github.com/podwright/podwright/availability/client/fake"
	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// webhook is that of one replica, with caches of its own.
func (c *cluster) webhook() *Webhook {
	return &Webhook{Deletions: true, Updates: true, Guard: c.guard(), Kubernetes: c.options.Kubernetes, Pods: c.podLister(), Availability: c.options.Availability}
}

func (c *cluster) podLister() corev1listers.PodLister {
	c.T.Helper()
	informer := informers.NewSharedInformerFactory(c.Client(fixture.ControllerUser), 0).Core().V1().Pods()
	c.Must(informer.Informer().SetTransform(TrimPod))
	c.T.Cleanup(c.Start(fixture.Informing(informer.Informer())))
	c.Sleep("100ms") // so that what happens has not the very second that objects say
	return informer.Lister()
}

// about is a request about a pod as the API server sends it.
func about(operation admissionv1.Operation, subresource string, name string) *admissionv1.AdmissionRequest {
	return &admissionv1.AdmissionRequest{
		UID: "uid", Kind: metav1.GroupVersionKind{Version: "v1", Kind: "Pod"}, Resource: metav1.GroupVersionResource{Version: "v1", Resource: "pods"},
		SubResource: subresource, Namespace: "default", Name: name, Operation: operation,
	}
}

func raw(object any) []byte {
	data, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	return data
}

func deletion(pod *corev1.Pod, options metav1.DeleteOptions) *admissionv1.AdmissionRequest {
	r := about(admissionv1.Delete, "", pod.Name)
	r.OldObject.Raw, r.Options.Raw = raw(pod), raw(options)
	return r
}

func eviction(name string, options *metav1.DeleteOptions) *admissionv1.AdmissionRequest {
	r := about(admissionv1.Create, "eviction", name)
	r.Kind = metav1.GroupVersionKind{Group: "policy", Version: "v1", Kind: "Eviction"}
	r.Object.Raw = raw(policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, DeleteOptions: options})
	return r
}

func update(before *corev1.Pod, subresource string, change func(*corev1.Pod)) *admissionv1.AdmissionRequest {
	r, after := about(admissionv1.Update, subresource, before.Name), before.DeepCopy()
	change(after)
	r.Object.Raw, r.OldObject.Raw = raw(after), raw(before)
	return r
}

func newImage(pod *corev1.Pod) { pod.Spec.Containers[0].Image = "nginx:2" }

// answer is the code and the message of a refusal; empty for what is allowed.
func answer(r *admissionv1.AdmissionResponse) string {
	if r.Allowed {
		return ""
	}
	return fmt.Sprint(r.Result.Code, " ", r.Result.Message)
}

// TestAdmission plays what the webhook says of budgets, in testdata/admission. others=none has it read no other budgets, and others=broken fails that.
func TestAdmission(t *testing.T) {
	conformance.PlayAdmission(t, "testdata/admission", conformance.Admission{
		Kind: kind, Resource: "podunavailablebudgets", Group: v1alpha1.GroupName,
		Object: `
metadata: {name: first, namespace: default}
spec: {targetRef: {apiVersion: apps.kruise.io/v1alpha1, kind: CloneSet, name: web}, maxUnavailable: 1}`,
		New: func(args map[string][]string) conformance.Served {
			others := fake.NewClient(newBudget("first", "1"), newBudget("second", "1", "app=web"), newBudget("third", "1", "app=web"))
			w := &Webhook{Availability: others}
			for key, value := range args {
				switch key + "=" + strings.Join(value, "") {
				case "others=none":
					w.Availability = nil
				case "others=broken":
					others.PrependReactor("list", "*", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, errors.New("no answer") })
				case "pods=cached":
					w.Pods = corev1listers.NewPodLister(nil)
				case "events=recorded":
					w.Recorder = &fixture.Recorder{}
				}
			}
			return w
		},
	})
}

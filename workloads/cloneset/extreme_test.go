// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"fmt"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// extremeSet has a quantity that a decoder would work on for hours.
const extremeSet = `{"apiVersion":"apps.kruise.io/v1alpha1","kind":"CloneSet","metadata":{"name":"mean","namespace":"default"},"spec":{
	"replicas":1,"selector":{"matchLabels":{"app":"mean"}},"template":{"metadata":{"labels":{"app":"mean"}},"spec":{"containers":[
	{"name":"main","image":"nginx:1","resources":{"requests":{"cpu":%q}}}]}}}}`

// One tenant's CloneSet must not stop the webhook, nor the cache of all others.
func TestExtremeQuantities(t *testing.T) {
	within := func(t *testing.T, do func()) {
		t.Helper()
		done := make(chan struct{})
		go func() { defer close(done); do() }()
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			t.Fatal("it is still busy")
		}
	}
	for _, quantity := range []string{"1e-100000000", "1e2147483647"} {
		raw := fmt.Appendf(nil, extremeSet, quantity)
		t.Run("webhook "+quantity, func(t *testing.T) {
			request := &admissionv1.AdmissionRequest{
				UID: "1", Operation: admissionv1.Create, Namespace: "default", Object: runtime.RawExtension{Raw: raw},
				Kind: metav1.GroupVersionKind{Group: "apps.kruise.io", Version: "v1alpha1", Kind: "CloneSet"},
			}
			within(t, func() {
				w := &Webhook{}
				if response := w.Default(t.Context(), request); !response.Allowed {
					t.Errorf("default: %v", response.Result)
				}
				if response := w.Validate(t.Context(), request); response == nil {
					t.Error("validate gives no answer")
				}
			})
		})
		t.Run("cache "+quantity, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				c.create(1, "")
				c.Edit(fmt.Sprintf(`{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"nginx:1","resources":{"requests":{"cpu":%q}}}]}}}}`, quantity))
				requests, _, err := c.ReconcileOnce()
				if err != nil {
					t.Errorf("%v, %v", requests, err)
				}
			})
		})
	}
}

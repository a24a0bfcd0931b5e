// SPDX-License-Identifier: Apache-2.0

package podprobemarker

import (
	"context"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/lifecycle/podwebhook"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

var _ podwebhook.Step = (*Injector)(nil)

// PPM-1.7: the API server asks about the pods of namespaces that have probes to hand over, and hears when that changes.
func TestInjector(t *testing.T) {
	var c *fixture.Cluster
	fixture.Play(t, fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind("PodProbeMarker"), "podprobemarkers"), func(f *fixture.Cluster) { c = f }, func(t *testing.T) {
		injector, err := NewInjector(InjectorOptions{Lifecycle: fixture.Connect(t, c.Server, fixture.ControllerUser, client.NewForConfig)})
		c.Must(err)
		create := &admissionv1.AdmissionRequest{Operation: admissionv1.Create, Namespace: "shop"}
		created := func() *corev1.Pod { // as a user creates it: the namespace is that of the request
			pod := newPod("web-0")
			pod.Namespace = ""
			return pod
		}
		over, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := injector.MatchExpression(over); err == nil || !strings.Contains(err.Error(), "not filled yet") {
			t.Errorf("PPM-1.7: before it runs: error %v", err)
		}
		if err := injector.Mutate(over, create, created()); err == nil || !strings.Contains(err.Error(), "not filled yet") {
			t.Errorf("PPM-1.7: a pod before it runs: error %v", err)
		}
		changes := 0
		c.Must(injector.OnMatchChange(func() { changes++ }))
		defer c.Start(injector.Run)()
		markers := fixture.Connect(t, c.Server, fixture.TestUser, client.NewForConfig).PodProbeMarkers("shop")
		expect := func(step, want, list string, changed int) {
			t.Helper()
			c.Sleep("1s")
			got, err := injector.MatchExpression(t.Context())
			c.Must(err)
			if got != want || changes != changed {
				t.Errorf("PPM-1.7: %s: %d changes, want %d, expression %s, want %s", step, changes, changed, got, want)
			}
			changes = 0
			pod := created()
			c.Must(injector.Mutate(t.Context(), create, pod))
			if pod.Annotations[v1alpha1.PodProbeMarkersAnnotation] != list {
				t.Errorf("PPM-1.7: %s: annotations %v", step, pod.Annotations)
			}
			for _, none := range []*admissionv1.AdmissionRequest{{Operation: admissionv1.Update, Namespace: "shop"}, {Operation: admissionv1.Create, Namespace: "bank"}} {
				pod := created()
				if c.Must(injector.Mutate(t.Context(), none, pod)); len(pod.Annotations) > 0 {
					t.Errorf("PPM-1.7: %s: %s in %s: annotations %v", step, none.Operation, none.Namespace, pod.Annotations)
				}
			}
		}
		expect("no marker", "false", "", 0)
		m := newMarker()
		m.UID, m.Finalizers = "", nil
		m, err = markers.Create(t.Context(), m, metav1.CreateOptions{})
		c.Must(err)
		expect("one", "request.namespace in ['shop']", "games", 1)
		m.Spec.Probes[0].Probe.PeriodSeconds = 3
		m, err = markers.Update(t.Context(), m, metav1.UpdateOptions{})
		c.Must(err)
		expect("another period", "request.namespace in ['shop']", "games", 0)
		m.Spec.Probes[0].PodConditionType = ""
		_, err = markers.Update(t.Context(), m, metav1.UpdateOptions{})
		c.Must(err)
		expect("no condition type", "false", "", 1)
	})
	if _, err := NewInjector(InjectorOptions{}); err == nil || !strings.Contains(err.Error(), "Options.Lifecycle is nil") {
		t.Errorf("without a client: error %v", err)
	}
}

// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"context"
	"fmt"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/lifecycle/podwebhook"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

var (
	_ podwebhook.Step = (*CachedInjector)(nil)
	_ AdmissionReader = (*CachedInjector)(nil)
)

// SCS-W9: the API server asks about the pods that the SidecarSets of now may match, and hears when they change.
func TestCachedInjector(t *testing.T) {
	var c *fixture.Cluster
	fixture.Play(t, setResource, func(f *fixture.Cluster) { c = f }, func(t *testing.T) {
		prepare(c)
		o := AdmissionOptions{Kubernetes: c.Client(fixture.ControllerUser), Sidecar: connect(c, fixture.ControllerUser)}
		injector, err := NewCachedInjector(o)
		c.Must(err)
		o.MatchExpression = func(sets []*v1alpha1.SidecarSet) string { return fmt.Sprint(len(sets)) }
		counting, err := NewCachedInjector(o)
		c.Must(err)
		over, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := injector.MatchExpression(over); err == nil || !strings.Contains(err.Error(), "not filled yet") {
			t.Errorf("SCS-W9: before it runs: error %v", err)
		}
		changes := 0
		c.Must(injector.OnMatchChange(func() { changes++ }))
		defer c.Start(injector.Run)()
		defer c.Start(counting.Run)()
		sets := connect(c, fixture.TestUser).SidecarSets()
		expect := func(step, want, count string, changed int) {
			t.Helper()
			c.Sleep("1s")
			got, err := injector.MatchExpression(t.Context())
			c.Must(err)
			own, err := counting.MatchExpression(t.Context())
			c.Must(err)
			if !strings.Contains(got, want) || own != count || changes != changed {
				t.Errorf("SCS-W9: %s: %d changes, want %d, expressions %s and %s, want %s and %s", step, changes, changed, got, own, want, count)
			}
			changes = 0
		}
		expect("no SidecarSet", "false", "0", 0)
		_, err = sets.Create(t.Context(), newSet(t, "web", "{}"), metav1.CreateOptions{})
		c.Must(err)
		expect("one", `["app"] in ["web"]`, "1", 1)
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main"}}}}
		c.Must(injector.Mutate(t.Context(), &admissionv1.AdmissionRequest{Operation: admissionv1.Create, Namespace: "default"}, pod))
		if len(pod.Spec.Containers) != 2 {
			t.Errorf("SCS-W5: injected %v", imagesOf(pod))
		}
		set, err := sets.Get(t.Context(), "web", metav1.GetOptions{})
		c.Must(err)
		set.Status.MatchedPods = 1
		_, err = sets.UpdateStatus(t.Context(), set, metav1.UpdateOptions{})
		c.Must(err)
		expect("its status", `["app"] in ["web"]`, "1", 0)
		set, err = sets.Get(t.Context(), "web", metav1.GetOptions{})
		c.Must(err)
		set.Spec.Selector.MatchLabels["app"] = "db"
		_, err = sets.Update(t.Context(), set, metav1.UpdateOptions{})
		c.Must(err)
		expect("its selector", `["app"] in ["db"]`, "1", 1)
		c.Must(sets.Delete(t.Context(), "web", metav1.DeleteOptions{}))
		expect("it is gone", "false", "0", 1)
	}, namespaceResource)
	if _, err := NewCachedInjector(AdmissionOptions{}); err == nil || !strings.Contains(err.Error(), "Options.Sidecar is nil") {
		t.Errorf("without clients: error %v", err)
	}
}

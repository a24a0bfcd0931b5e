// SPDX-License-Identifier: Apache-2.0

package podreadiness_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/lifecycle/podreadiness"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// TestConformance opens the gate of a pod, and again when the condition is lost.
func TestConformance(t *testing.T) {
	conformance.Test(t, conformance.Subject{
		Resource: cloneSets,
		Watches:  []string{"pods"},
		Writes:   []string{"patch pods/status"},
		New: func(c *conformance.Cluster) (conformance.Controller, error) {
			kube := c.Client(fixture.ControllerUser)
			o := podreadiness.Options{Kubernetes: kube, ControllerOptions: podwright.ControllerOptions{Metrics: c.Reconciles}, Recorder: &c.Events,
				Pods: c.Share(caches.NewInformers(kube, "").Pods())}
			return conformance.Made(fixture.Package[podreadiness.Options, podreadiness.Snapshot, podreadiness.Plan]{New: podreadiness.New,
				Acts: func(plan *podreadiness.Plan) bool { return *plan != podreadiness.Plan{} }}, o, podreadiness.Rules(o))
		},
		Create: func(c *conformance.Cluster, name string) {
			pod := gated()
			pod.ObjectMeta = metav1.ObjectMeta{Name: name}
			c.CreatePod(pod)
		},
		Change: func(c *conformance.Cluster, name string) {
			c.PatchPod(name, `{"status":{"conditions":[{"type":"KruisePodReady","$patch":"delete"}]}}`, "status")
		},
		About: func(*conformance.Cluster, string) string { return "" }, // events alone
		Outcome: func(c *conformance.Cluster, name string) string {
			pod, err := c.Kube.CoreV1().Pods(fixture.Web.Namespace).Get(c.T.Context(), name, metav1.GetOptions{})
			c.Must(err)
			return fmt.Sprint(readiness.Condition(pod, v1alpha1.KruisePodReady).Status)
		},
		Strangers: func(c *conformance.Cluster, _ string) { // without the gate
			c.CreatePod(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "strange"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "web:1"}}}})
		},
	})
}

func TestOptions(t *testing.T) {
	kube := fixture.Connect(t, fakecluster.New(nil), "test", kubernetes.NewForConfig)
	conformance.CheckOptions(t, conformance.Options[podreadiness.Options]{Good: podreadiness.Options{Kubernetes: kube}, Required: "Kubernetes",
		New:           func(o podreadiness.Options) error { _, err := podreadiness.New(o); return err },
		NewReconciler: func(o podreadiness.Options) error { _, err := podreadiness.NewReconciler(o); return err }})
}

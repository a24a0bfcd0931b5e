// SPDX-License-Identifier: Apache-2.0

package launchpriority

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/lifecycle/launchpriority/barrier"
)

// TestConformance starts a pod of two containers: one, and then the other.
func TestConformance(t *testing.T) {
	conformance.Test(t, conformance.Subject{
		Resource:    configMaps,
		Watches:     []string{"pods"},
		Writes:      []string{"create configmaps", "patch configmaps"},
		Uncontested: map[string]string{"patch configmaps": "a key is written while a container waits for it, and looked after once a minute (LP-12)"},
		New: func(c *conformance.Cluster) (conformance.Controller, error) {
			kube := c.Client(fixture.ControllerUser)
			o := Options{Kubernetes: kube, Recorder: &c.Events, ControllerOptions: podwright.ControllerOptions{Metrics: c.Reconciles},
				Pods: c.Share(caches.NewInformers(kube, "").Pods())}
			return conformance.Made(tested, o, Rules(o))
		},
		Create: func(c *conformance.Cluster, name string) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: fixture.Web.Namespace, Name: name}, Spec: corev1.PodSpec{Containers: []corev1.Container{
				{Name: "main", Image: "main:bad", Env: []corev1.EnvVar{{Name: "KRUISE_CONTAINER_PRIORITY", Value: "0"}}},
				{Name: "proxy", Image: "proxy:bad", Env: []corev1.EnvVar{{Name: "KRUISE_CONTAINER_PRIORITY", Value: "5"}}}}}}
			c.Must(barrier.Mutate(pod, ""))
			c.CreatePod(pod)
		},
		Change: func(c *conformance.Cluster, name string) {
			c.PatchPod(name, `{"spec":{"containers":[{"name":"proxy","image":"proxy:good"}]}}`)
			c.KubeletStep()
			c.KubeletStep()
			c.PatchPod(name, `{"spec":{"containers":[{"name":"main","image":"main:good"}]}}`)
		},
		About: func(*conformance.Cluster, string) string { return "" }, // events alone
		Outcome: func(c *conformance.Cluster, name string) string {
			configMap, err := c.Kube.CoreV1().ConfigMaps(fixture.Web.Namespace).Get(c.T.Context(), barrier.ConfigMapName(name), metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				return "none"
			}
			c.Must(err)
			return fmt.Sprint(configMap.Data)
		},
		Strangers: func(c *conformance.Cluster, _ string) { // without a barrier
			c.CreatePod(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "strange"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "web:1"}}}})
		},
	})
}

func TestOptions(t *testing.T) {
	kube := fixture.Connect(t, fakecluster.New(nil), "test", kubernetes.NewForConfig)
	conformance.CheckOptions(t, conformance.Options[Options]{Good: Options{Kubernetes: kube}, Required: "Kubernetes",
		New:           func(o Options) error { _, err := New(o); return err },
		NewReconciler: func(o Options) error { _, err := NewReconciler(o); return err }})
}

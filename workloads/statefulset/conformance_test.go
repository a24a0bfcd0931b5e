// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// TestConformance scales StatefulSets with claims in, and updates their pods in place.
func TestConformance(t *testing.T) {
	t.Parallel()
	conformance.Test(t, conformance.Subject{
		Resource: fakecluster.CustomResource(v1beta1.SchemeGroupVersion.WithKind("StatefulSet"), "statefulsets"),
		Watches:  []string{"statefulsets", "pods", "persistentvolumeclaims", "controllerrevisions"},
		Writes: []string{"create controllerrevisions", "create persistentvolumeclaims", "create pods", "delete pods", "delete controllerrevisions",
			"patch persistentvolumeclaims", "patch pods", "patch pods/status", "patch statefulsets/status"},
		Trusted: map[string]string{"patch pods/status": "a state that no controller knows is another controller's: the pod waits for it, and HeldUp says so"},
		Unasked: map[string]string{
			"patch apps/controllerrevisions":  "the scenario goes back to no revision, and adopts none",
			"get apps.kruise.io/statefulsets": "before an adoption the API server is asked for the StatefulSet",
			"delete /persistentvolumeclaims":  "in the scenario the claims of a StatefulSet that shrinks are retained",
		},
		New: func(c *conformance.Cluster) (conformance.Controller, error) {
			workloads, kube := connect(c.Cluster, fixture.ControllerUser), c.Client(fixture.ControllerUser)
			core := caches.NewInformers(kube, "")
			o := Options{Kubernetes: kube, Workloads: workloads, Recorder: &c.Events, ControllerOptions: podwright.ControllerOptions{Metrics: c.Reconciles},
				AdvancedStatefulSets: c.Share(client.NewStatefulSetInformer(workloads, "", 0, cache.Indexers{})),
				Pods:                 c.Share(core.Pods()), Claims: c.Share(core.Claims()),
				Revisions: c.Share(core.Revisions())}
			return conformance.Made(tested, o, Rules(o))
		},
		Create: func(c *conformance.Cluster, name string) {
			set := testSet(3)
			set.Name, set.Spec.Selector.MatchLabels["app"], set.Spec.Template.Labels["app"] = name, name, name
			c.Create(set, `{"spec":{"revisionHistoryLimit":0,"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{}}],
				"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Retain","whenScaled":"Delete"}}}`)
		},
		Change: func(c *conformance.Cluster, name string) {
			c.EditNamed(name, `{"spec":{"replicas":2,"template":{"spec":{"containers":[{"name":"main","image":"nginx:2"}]}}}}`)
		},
		Outcome: func(c *conformance.Cluster, name string) string {
			out := []string{}
			for _, pod := range c.Pods() {
				if owner := metav1.GetControllerOf(&pod); owner != nil && owner.Name == name {
					out = append(out, fmt.Sprint(pod.Name, pod.Spec.Containers[0].Image, " ", readiness.Ready(&pod)))
				}
			}
			set, err := connect(c.Cluster, fixture.TestUser).StatefulSets(web.Namespace).Get(c.T.Context(), name, metav1.GetOptions{})
			c.Must(err)
			return strings.Join(append(out, fmt.Sprint(set.Status.UpdatedReadyReplicas, set.Status.Conditions)), "\n")
		},
		Strangers: func(c *conformance.Cluster, name string) { c.CreateStrangers(name) },
	})
}

func TestOptions(t *testing.T) {
	server := fakecluster.New(nil)
	kube, workloads := fixture.Connect(t, server, "test", kubernetes.NewForConfig), fixture.Connect(t, server, "test", client.NewForConfig)
	conformance.CheckOptions(t, conformance.Options[Options]{Good: Options{Kubernetes: kube, Workloads: workloads}, Required: "Kubernetes Workloads",
		New:           func(o Options) error { _, err := New(o); return err },
		NewReconciler: func(o Options) error { _, err := NewReconciler(o); return err }})
}

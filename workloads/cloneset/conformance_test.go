// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// TestConformance scales CloneSets with claims in, and updates their pods in place.
func TestConformance(t *testing.T) {
	t.Parallel()
	conformance.Test(t, conformance.Subject{
		Resource: fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind("CloneSet"), "clonesets"),
		Watches:  []string{"clonesets", "pods", "persistentvolumeclaims", "controllerrevisions", "nodes"},
		Writes: []string{"create controllerrevisions", "create persistentvolumeclaims", "create pods", "delete pods", "delete controllerrevisions",
			"delete persistentvolumeclaims", "patch pods", "patch pods/status", "patch clonesets/status"},
		Trusted: map[string]string{"patch pods/status": "a state that no controller knows is another controller's: the pod waits for it, and HeldUp says so"},
		Unasked: map[string]string{
			"patch apps.kruise.io/clonesets": "the scenario names no pods in podsToDelete (CS-E9)",
			"patch apps/controllerrevisions": "the scenario goes back to no revision, which would get the newest number",
		},
		New: func(c *conformance.Cluster) (conformance.Controller, error) {
			workloads, kube := connect(c.Cluster, fixture.ControllerUser), c.Client(fixture.ControllerUser)
			core := caches.NewInformers(kube, "")
			o := Options{Kubernetes: kube, Workloads: workloads, Recorder: &c.Events, ControllerOptions: podwright.ControllerOptions{Metrics: c.Reconciles},
				CloneSets: c.Share(client.NewCloneSetInformer(workloads, "", 0, cache.Indexers{})),
				Pods:      c.Share(core.Pods()), Claims: c.Share(core.Claims()),
				Revisions: c.Share(core.Revisions()), Nodes: c.Share(core.Nodes())}
			return conformance.Made(tested, o, Rules(o))
		},
		Create: func(c *conformance.Cluster, name string) {
			set := testSet(3)
			set.Name, set.Spec.Selector.MatchLabels["app"], set.Spec.Template.Labels["app"] = name, name, name
			c.Create(set, `{"spec":{"revisionHistoryLimit":0,"updateStrategy":{"type":"InPlaceIfPossible","maxUnavailable":2},
				"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{}}]}}`)
		},
		Change: func(c *conformance.Cluster, name string) {
			c.EditNamed(name, `{"spec":{"replicas":2,"template":{"spec":{"containers":[{"name":"main","image":"nginx:2"}]}}}}`)
		},
		Outcome: func(c *conformance.Cluster, name string) string {
			out := []string{}
			for _, pod := range c.Pods() {
				if owner := metav1.GetControllerOf(&pod); owner != nil && owner.Name == name {
					out = append(out, fmt.Sprint(pod.Spec.Containers[0].Image, " ", readiness.Ready(&pod)))
				}
			}
			slices.Sort(out)
			set, err := connect(c.Cluster, fixture.TestUser).CloneSets(web.Namespace).Get(c.T.Context(), name, metav1.GetOptions{})
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

// A release switches what it does by default; its gates that are off are off here. (CS-42 to CS-47, LC-30)
func TestFeaturesOf(t *testing.T) {
	if diff := cmp.Diff(Features{}, FeaturesOf(podwright.Release14)); diff != "" {
		t.Errorf("1.4 (-want +got):\n%s", diff)
	}
	want := Features{PauseWithoutSurge: true, ClaimTemplateHash: true, KeepOrder: true, ProgressReasons: true, NormalOnceBound: true,
		PreDownloadSandboxConfig: true}
	if diff := cmp.Diff(want, FeaturesOf(podwright.Release19)); diff != "" {
		t.Errorf("1.9 (-want +got):\n%s", diff)
	}
}

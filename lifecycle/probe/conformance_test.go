// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/lifecycle/probe/nodepodprobe"
	"github.com/podwright/podwright/lifecycle/probe/podprobemarker"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// of is the cluster of this package's tests on that of the suite.
func of(c *conformance.Cluster) *cluster { return newCluster(c.T, c.Server) }

// probedIdle is the result of the probe of a pod, without which the marker would be held up.
const probedIdle = `{"status":{"conditions":[{"type":"Idle","status":"True"}]}}`

// TestConformanceOfPodProbeMarker counts the pods of a marker, and again when there is one more.
func TestConformanceOfPodProbeMarker(t *testing.T) {
	conformance.Test(t, conformance.Subject{
		Resource: markerResource, More: []fakecluster.Resource{probesResource},
		Watches: []string{"podprobemarkers", "pods", "nodepodprobes"},
		Writes:  []string{"patch podprobemarkers", "patch podprobemarkers/status"},
		New: func(c *conformance.Cluster) (conformance.Controller, error) {
			l, kube := of(c).lifecycle(fixture.ControllerUser), c.Client(fixture.ControllerUser)
			o := podprobemarker.Options{Lifecycle: l, Kubernetes: kube, ControllerOptions: podwright.ControllerOptions{Metrics: c.Reconciles}, Recorder: &c.Events,
				Markers:       c.Share(client.NewPodProbeMarkerInformer(l, "", 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})),
				NodePodProbes: c.Share(client.NewNodePodProbeInformer(l, 0, cache.Indexers{})),
				Pods:          c.Share(caches.NewInformers(kube, "").Pods())}
			return conformance.Made(ofMarkers, o, podprobemarker.Rules(o))
		},
		Create: func(c *conformance.Cluster, name string) {
			of(c).addPod("n1", name+"-0", name)
			c.PatchPod(name+"-0", probedIdle, "status")
			of(c).mark(name, name, idle)
		},
		Change: func(c *conformance.Cluster, name string) {
			of(c).addPod("n1", name+"-1", name)
			c.PatchPod(name+"-1", probedIdle, "status")
		},
		Step: func(*conformance.Cluster) {},
		Outcome: func(c *conformance.Cluster, name string) string {
			m, err := of(c).markers.Get(c.T.Context(), name, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				return "gone"
			}
			c.Must(err)
			return fmt.Sprintf("%v %d", m.Finalizers, m.Status.MatchedPods)
		},
		Noise: func(c *conformance.Cluster, i int) { noise(c, i) },
	})
}

// TestConformanceOfNodePodProbe has a pod probed on a node, and writes the result to it.
func TestConformanceOfNodePodProbe(t *testing.T) {
	conformance.Test(t, conformance.Subject{
		Resource: probesResource, More: []fakecluster.Resource{markerResource},
		Watches: []string{"nodepodprobes", "nodes", "podprobemarkers", "pods"},
		Writes:  []string{"create nodepodprobes", "patch nodepodprobes", "patch pods/status"},
		Repeats: []string{"patch pods/status", "patch nodepodprobes"}, // no other client writes what it says
		New: func(c *conformance.Cluster) (conformance.Controller, error) {
			l, kube := of(c).lifecycle(fixture.ControllerUser), c.Client(fixture.ControllerUser)
			core := caches.NewInformers(kube, "")
			o := nodepodprobe.Options{Lifecycle: l, Kubernetes: kube, ControllerOptions: podwright.ControllerOptions{Metrics: c.Reconciles}, Recorder: &c.Events,
				Markers:       c.Share(client.NewPodProbeMarkerInformer(l, "", 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})),
				NodePodProbes: c.Share(client.NewNodePodProbeInformer(l, 0, cache.Indexers{})),
				Pods:          c.Share(core.Pods()), Nodes: c.Share(core.Nodes())}
			made, err := conformance.Made(ofNodes, o, nodepodprobe.Rules(o))
			next := made.Next
			made.Next = func(key types.NamespacedName) (string, error) { return next(types.NamespacedName{Name: key.Name}) } // of no namespace
			return made, err
		},
		Prepare: func(c *conformance.Cluster) {
			of(c).mark("games", "web", "[{name: idle, containerName: main, podConditionType: Idle, probe: {exec: {command: [/idle]}}}]")
		},
		Create: func(c *conformance.Cluster, name string) {
			of(c).addNode(name)
			of(c).addPod(name, name+"-0", "web")
		},
		Change: func(c *conformance.Cluster, name string) { of(c).addPod(name, name+"-1", "web") },
		Step: func(c *conformance.Cluster) {
			synctest.Wait() // the controller may be at work on what has just gone
			list, err := of(c).probes.List(c.T.Context(), metav1.ListOptions{})
			c.Must(err)
			for _, n := range list.Items {
				if reported(&n) < len(n.Spec.PodProbes) {
					of(c).agent(n.Name, v1alpha1.ProbeSucceeded)
				}
			}
		},
		About: func(*conformance.Cluster, string) string { return "" }, // events alone
		Outcome: func(c *conformance.Cluster, name string) string {
			var out []string
			for _, pod := range c.Pods() {
				if strings.HasPrefix(pod.Name, name+"-") {
					out = append(out, pod.Name+" "+of(c).pod(pod.Name))
				}
			}
			for _, line := range of(c).probed() {
				if strings.HasPrefix(line, "probes "+name+" ") {
					out = append(out, line)
				}
			}
			return strings.Join(out, "\n")
		},
		Noise: func(c *conformance.Cluster, i int) { noise(c, i) },
	})
}

// reported counts the pods of the spec that the agent has reported on.
func reported(n *v1alpha1.NodePodProbe) (pods int) {
	for _, entry := range n.Spec.PodProbes {
		for _, status := range n.Status.PodProbeStatuses {
			if status.UID == entry.UID {
				pods++
			}
		}
	}
	return pods
}

// noise has kubelets say of all pods what no plan reads.
func noise(c *conformance.Cluster, i int) {
	for _, pod := range c.Pods() {
		c.PatchPod(pod.Name, fmt.Sprintf(`{"status":{"hostIP":"10.0.0.%d"}}`, i%250+1), "status")
	}
}

func TestOptions(t *testing.T) {
	server := fakecluster.New(nil)
	kube := kubernetes.NewForConfigOrDie(server.Config(testUser))
	l := fixture.Connect(t, server, testUser, client.NewForConfig)
	conformance.CheckOptions(t, conformance.Options[podprobemarker.Options]{Good: podprobemarker.Options{Lifecycle: l, Kubernetes: kube}, Required: "Kubernetes Lifecycle",
		New:           func(o podprobemarker.Options) error { _, err := podprobemarker.New(o); return err },
		NewReconciler: func(o podprobemarker.Options) error { _, err := podprobemarker.NewReconciler(o); return err }})
	conformance.CheckOptions(t, conformance.Options[nodepodprobe.Options]{Good: nodepodprobe.Options{Lifecycle: l, Kubernetes: kube}, Required: "Kubernetes Lifecycle",
		New:           func(o nodepodprobe.Options) error { _, err := nodepodprobe.New(o); return err },
		NewReconciler: func(o nodepodprobe.Options) error { _, err := nodepodprobe.NewReconciler(o); return err }})
}

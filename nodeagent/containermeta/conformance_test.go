// SPDX-License-Identifier: Apache-2.0

package containermeta

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/fakecri/agents"
	"github.com/podwright/podwright/nodeagent"
)

// TestConformance reports the containers of a pod, and restarts one whose
// environment has changed.
func TestConformance(t *testing.T) {
	nodeOf := func(c *conformance.Cluster) *node {
		if c.Data == nil {
			c.Data = newNode(c.T, c.Server)
		}
		return c.Data.(*node)
	}
	conformance.Test(t, conformance.Subject{
		Resource:  fakecluster.Resource{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("ConfigMap"), Name: "configmaps", Type: func() any { return &corev1.ConfigMap{} }},
		Watches:   []string{"pods"},
		MoreTries: 60,
		Writes:    []string{"patch pods/status"},
		Repeats:   []string{"patch pods/status"}, // an annotation that no other controller writes
		New: func(c *conformance.Cluster) (conformance.Controller, error) {
			kube := c.Client(fixture.ControllerUser)
			o := Options{Kubernetes: kube, Runtime: agents.Connect(c.T, nodeOf(c).Runtime), Node: "node-1", Recorder: &c.Events, ControllerOptions: podwright.ControllerOptions{Metrics: c.Reconciles},
				Pods: c.Share(nodeagent.NewPodInformer(kube, "node-1"))}
			return conformance.Made(fixture.Package[Options, Snapshot, Plan]{New: New,
				Acts: func(plan *Plan) bool { return plan.Report != nil || len(plan.Restarts) > 0 }}, o, Rules(o))
		},
		Create: func(c *conformance.Cluster, name string) {
			nodeOf(c).create(newPod(name))
		},
		Change: func(c *conformance.Cluster, name string) { nodeOf(c).update(name, "2") },
		Step: func(c *conformance.Cluster) {
			for _, name := range c.PodNames() {
				nodeOf(c).sync(name)
			}
		},
		About: func(*conformance.Cluster, string) string { return "" }, // events alone
		Outcome: func(c *conformance.Cluster, name string) string {
			var out string
			for _, container := range reported(nodeOf(c).pod(name)).Containers {
				out += fmt.Sprintln(container.Name, container.RestartCount, container.Hashes)
			}
			return out
		},
	})
}

func TestOptions(t *testing.T) {
	kube, runtime := unusedClients(t)
	conformance.CheckOptions(t, conformance.Options[Options]{Good: Options{Kubernetes: kube, Runtime: runtime, Node: "node-1"},
		Required: "Kubernetes Runtime", RequiredByNew: "Node",
		New:           func(o Options) error { _, err := New(o); return err },
		NewReconciler: func(o Options) error { _, err := NewReconciler(o); return err }})
	if _, err := New(Options{Kubernetes: kube, Runtime: runtime, Pods: nodeagent.NewPodInformer(kube, "node-1")}); err != nil {
		t.Errorf("an informer in place of the node: %v", err)
	}
}

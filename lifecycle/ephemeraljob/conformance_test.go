// SPDX-License-Identifier: Apache-2.0

package ephemeraljob

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/lifecycle/client/fake"
)

// TestConformance debugs four pods, two at a time, of which one never ends. Then that one goes: the job is
// over, and deleted soon. (EJ-8, EJ-19)
func TestConformance(t *testing.T) {
	of := func(c *conformance.Cluster) *cluster {
		return &cluster{Kind: &fixture.Kind[Options, Snapshot, Plan]{Cluster: c.Cluster}, ends: func(pod string) string {
			switch {
			case strings.HasSuffix(pod, "-slow"):
				return "running"
			case strings.HasSuffix(pod, "-bad"):
				return "exit1"
			}
			return "exit0"
		}}
	}
	conformance.Test(t, conformance.Subject{
		Resource: jobResource, Watches: []string{"ephemeraljobs", "pods"},
		Writes:      []string{"patch ephemeraljobs", "patch ephemeraljobs/status", "patch pods/ephemeralcontainers", "delete ephemeraljobs"},
		Uncontested: map[string]string{"patch pods/ephemeralcontainers": "the API server lets no writer take a container from a pod"},
		Repeats:     []string{"patch pods/ephemeralcontainers"},
		New: func(c *conformance.Cluster) (conformance.Controller, error) {
			kube, jobs := c.Client(fixture.ControllerUser), connect(c.Cluster, fixture.ControllerUser)
			o := Options{Kubernetes: kube, Lifecycle: jobs, Recorder: &c.Events, ControllerOptions: podwright.ControllerOptions{Metrics: c.Reconciles},
				EphemeralJobs: c.Share(client.NewEphemeralJobInformer(jobs, "", 0, nil)), Pods: c.Share(caches.NewInformers(kube, "").Pods())}
			return conformance.Made(tested, o, Rules(o))
		},
		Create: func(c *conformance.Cluster, name string) {
			of(c).addPods(name+"-slow", name+"-bad", name+"-1", name+"-2")
			c.Create(testJob(name), `{"spec":{"parallelism":2,"ttlSecondsAfterFinished":5}}`)
		},
		Change: func(c *conformance.Cluster, name string) { c.DeletePod(name + "-slow") },
		Step:   func(c *conformance.Cluster) { of(c).nodeStep() },
		Outcome: func(c *conformance.Cluster, name string) string {
			lines := strings.Split(of(c).containers(), "\n")
			lines = slices.DeleteFunc(lines, func(line string) bool { return !strings.HasPrefix(line, name+"-") })
			return of(c).outcome(name) + "\n" + strings.Join(lines, "\n")
		},
		Strangers: func(c *conformance.Cluster, name string) {
			c.CreateStrangers("stranger-of-" + name)
			of(c).addPods(fmt.Sprint("another", name))
		},
	})
}

func TestOptions(t *testing.T) {
	kube := fixture.Connect(t, fakecluster.New(nil), "test", kubernetes.NewForConfig)
	conformance.CheckOptions(t, conformance.Options[Options]{Good: Options{Kubernetes: kube, Lifecycle: fake.NewClient()}, Required: "Kubernetes Lifecycle",
		New:           func(o Options) error { _, err := New(o); return err },
		NewReconciler: func(o Options) error { _, err := NewReconciler(o); return err }})
}

// SPDX-License-Identifier: Apache-2.0

package terminator

import (
	"math/rand/v2"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/internal/testing/simulation/planted"
	"github.com/podwright/podwright/lifecycle/client"
)

// TestSimulation has users create pods of all kinds with sidecars, one after the other, amid everything that can go wrong. The
// test judges each write of the terminator. A model plays what kubelets do about containers that end, and the agents of nodes.
func TestSimulation(t *testing.T) {
	simulation.Check(t, simulated(spoil{}))
}

// TestSimulationReplays plays a seed twice: not a line of the history may differ.
// A shorter one is the beginning of a longer one.
func TestSimulationReplays(t *testing.T) {
	t.Parallel()
	simulation.CheckReplay(t, simulated(spoil{}), 1)
}

// simulated is what a simulation needs to know of pods, whose terminator has a bug.
func simulated(bug spoil) *simulation.Subject {
	return &simulation.Subject{
		Resource: fakecluster.Resource{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Pod"), Name: string(resourcePods)},
		Further: []simulation.Further{{Resource: requestResource,
			Empty: emptyRequest}},
		Create:      func(r *rand.Rand) simulation.Object { return anyPod(r) },
		Start:       func(p *simulation.Process) (simulation.Controller, error) { return startSimulated(p, bug) },
		Nodes:       2,
		ByContainer: true,
		Refusals:    []invariants.Refusal{{Verb: "patch", Resource: string(resourcePods)}, {Verb: "create", Resource: string(resourceRequests)}},
		Patience:    20 * time.Minute, // refusals are tried again every five
		Populate: func(u *simulation.User, _ *rand.Rand) {
			u.LabelNode("n2", map[string]any{"type": "virtual-kubelet"})
		},
		Others: func(u *simulation.User, r *rand.Rand) {
			for range 1 + r.IntN(3) {
				if pod := u.AnyPod(r); pod == nil || hasEnded(pod) && r.IntN(3) == 0 {
					another(u, r)
				} else {
					actOnNode(u, pod, r)
				}
			}
		},
		Release: func(u *simulation.User) {
			for _, pod := range u.Pods() {
				actOnNode(u, pod, nil)
			}
		},
		Act: bug.Act(act),
		Push: func(u *simulation.User) {
			u.ReadyNode("n1", "a")
			u.DeletePod(simulation.Web.Name, new(int64))
			u.CreateAs(jobPod(corev1.RestartPolicyNever, containerOf("main", ""), containerOf("log", "r")))
		},
		Ignores: []string{string(caches.Claims), string(caches.Revisions)},
		Judge: func(uint64) simulation.Judge {
			judge := &invariants.Terminator{}
			return simulation.Judge{Observe: judge.Observe, Write: judge.Write, Settled: judge.Settled}
		},
	}
}

func startSimulated(p *simulation.Process, bug spoil) (simulation.Controller, error) {
	c, err := planted.Start(tested, bug, func(p *simulation.Process) (o Options, err error) {
		o.Reader = planted.Read(p, resourcePods, resourceNodes, resourceRequests)
		if o.Kubernetes, err = p.Kubernetes(); err == nil {
			o.Lifecycle, err = client.NewForConfig(p.Config)
		}
		return o, err
	})(p)
	unfinished := c.Unfinished
	c.Unfinished = func() (string, error) {
		if pod, is := p.Cached().Workload.(*corev1.Pod); is && hasEnded(pod) {
			return "", nil // what still runs ends without a request, too (ST-15.3)
		}
		return unfinished()
	}
	return c, err
}

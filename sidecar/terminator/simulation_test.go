// SPDX-License-Identifier: Apache-2.0

package terminator

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/readers"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/lifecycle/readiness"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// TestSimulation has users create pods of all kinds with sidecars, one after the other, amid everything that can go wrong, and
// judges each write of the terminator. A model plays what kubelets do about containers that end, and the agents of nodes.
func TestSimulation(t *testing.T) {
	simulation.Check(t, simulated(&spoil{}))
}

// TestSimulationReplays plays a seed twice: not a line of the history may differ.
// A shorter one is the beginning of a longer one.
func TestSimulationReplays(t *testing.T) {
	t.Parallel()
	simulation.CheckReplay(t, simulated(&spoil{}), 1)
}

// simulated is what a simulation needs to know of pods, whose terminator has a bug.
func simulated(bug *spoil) *simulation.Subject {
	return &simulation.Subject{
		Resource:    fakecluster.Resource{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Pod"), Name: string(resourcePods)},
		Further:     []simulation.Further{{Resource: requestResource, Empty: func() simulation.Object { return &lifecyclev1alpha1.ContainerRecreateRequest{} }}},
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
				if pod := u.AnyPod(r); pod == nil || podstate.Ended(pod) && r.IntN(3) == 0 {
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

func startSimulated(p *simulation.Process, bug *spoil) (simulation.Controller, error) {
	r, err := bug.Start(p, func(p *simulation.Process) (o Options, err error) {
		reader := caches.Reader{}
		for _, resource := range []podwright.Resource{resourcePods, resourceNodes, resourceRequests} {
			reader[resource] = p.Informer(string(resource)).GetIndexer()
		}
		o.Reader = readers.Noting{Reader: reader, Resource: resourcePods, Note: p.Observe}
		if o.Kubernetes, err = p.Kubernetes(); err == nil {
			o.Lifecycle, err = client.NewForConfig(p.Config)
		}
		return o, err
	}, NewReconciler)
	if err != nil {
		return simulation.Controller{}, err
	}
	return simulation.Controller{Reconcile: r.Reconcile, Unfinished: func() (string, error) {
		if pod, is := p.Cached().Workload.(*corev1.Pod); is && podstate.Ended(pod) {
			return "", nil // what still runs ends without a request, too (ST-15.3)
		}
		plan, err := r.Plan(context.Background(), simulation.Web)
		if plan == nil || err != nil {
			return "", err
		}
		return plan.String(), nil
	}}, nil
}

// unpullable is an image that cannot be pulled.
const unpullable = "exit:nopull"

// jobPod is a pod that runs to completion. The tag of an image is what its container exits with: a main container by itself, a
// sidecar when it is stopped.
func jobPod(policy corev1.RestartPolicy, containers ...corev1.Container) *corev1.Pod {
	for i := range containers {
		containers[i].Image = containers[i].Name + map[bool]string{true: ":137", false: ":0"}[isSidecar(&containers[i])]
	}
	return &corev1.Pod{Spec: corev1.PodSpec{RestartPolicy: policy, TerminationGracePeriodSeconds: new(int64(5)), Containers: containers}}
}

// anyPod is a pod of a seed: one in five restarts always, some have no sidecar or no main container, some main containers fail or never
// end, and some nodes have agents that are silent or images that cannot be pulled.
func anyPod(r *rand.Rand) *corev1.Pod {
	policies := []corev1.RestartPolicy{corev1.RestartPolicyNever, corev1.RestartPolicyNever, corev1.RestartPolicyOnFailure, corev1.RestartPolicyOnFailure, corev1.RestartPolicyAlways}
	marks := []string{"r", "r", "r", "i", "i", "ri", "ir", ""}
	pod := jobPod(policies[r.IntN(len(policies))], containerOf("a", marks[r.IntN(len(marks))]), containerOf("b", marks[r.IntN(len(marks))]), containerOf("main", ""))
	pod.Spec.Containers = pod.Spec.Containers[r.IntN(2):]
	if r.IntN(10) == 0 {
		pod.Spec.Containers = pod.Spec.Containers[:len(pod.Spec.Containers)-1]
	}
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		c.Image = fmt.Sprint(c.Name, ":", []int{0, 0, 1, 137}[r.IntN(4)])
		for j := range c.Env {
			if e := &c.Env[j]; e.Value == exitImage && r.IntN(4) == 0 {
				e.Value = unpullable
			}
		}
	}
	pod.Labels = map[string]string{"agent": []string{"works", "works", "silent", "dead"}[r.IntN(4)], "ends": fmt.Sprint(r.IntN(5) > 0), "learns": []string{"soon", "late"}[r.IntN(2)]}
	return pod
}

// another has another pod in the place of the one that there is.
func another(u *simulation.User, r *rand.Rand) {
	u.DeletePod(simulation.Web.Name, new(int64))
	u.CreateAs(anyPod(r))
}

// act is what users do in a step.
func act(u *simulation.User, r *rand.Rand) {
	pod, request := u.Workload().(*corev1.Pod), u.AnyObject(string(resourceRequests), r)
	switch n := r.IntN(8); {
	case n == 0 || podstate.Ended(pod):
		another(u, r)
	case n == 4 && request != nil: // (ST-E10)
		u.DeleteObject(string(resourceRequests), request.GetName(), metav1.DeletePropagationBackground)
	default:
		u.PatchPod(pod.Name, fmt.Sprintf(`{"metadata":{"annotations":{"note":"%d"}}}`, r.IntN(9)))
	}
}

// actOnNode has the kubelet of a pod, or the agent of its node, do one thing. A kubelet knows after 20 s that its pod was given a phase. In the
// end there are no random numbers.
func actOnNode(u *simulation.User, pod *corev1.Pod, r *rand.Rand) {
	if pod.DeletionTimestamp != nil || len(pod.Status.ContainerStatuses) < len(pod.Spec.Containers) {
		return
	}
	next, given := pod.DeepCopy(), readiness.Condition(pod, v1alpha1.SidecarTerminatedCondition)
	what := "has a container end or start"
	switch {
	case unaware(pod) && (r == nil && pod.Labels["learns"] != "late" || r != nil && r.IntN(3) == 0 || time.Since(given.LastTransitionTime.Time) >= 20*time.Second):
		learn(next)
		what = "learns of the phase"
	case unaware(pod) && (r == nil || r.IntN(2) == 0):
		return
	case unaware(pod): // it writes what it knows (ST-13.1)
		next.Status.Phase = corev1.PodRunning
		what = "does not know the phase"
	default:
		if r != nil && r.IntN(2) == 0 || !goOn(next, r) {
			actAsAgent(u, pod, next)
		}
		next.Status.Phase = kubeletPhase(next)
	}
	if !reflect.DeepEqual(pod.Status, next.Status) {
		u.UpdatePod("kubelet: "+what, next)
	}
}

// goOn has containers start that are to, or one end, and tells whether any did. In the end, main containers that start again do not fail.
func goOn(pod *corev1.Pod, r *rand.Rand) bool {
	before := fmt.Sprint(pod.Status)
	if runContainers(pod, unpullable); before != fmt.Sprint(pod.Status) || podstate.Ended(pod) {
		return before != fmt.Sprint(pod.Status)
	}
	inTheEnd, policy := r == nil, pod.Spec.RestartPolicy
	for i := range pod.Spec.Containers {
		c, s := &pod.Spec.Containers[i], &pod.Status.ContainerStatuses[i]
		switch {
		case s.State.Running == nil, inTheEnd && (isSidecar(c) || pod.Labels["ends"] == "false" || policy == corev1.RestartPolicyAlways), !inTheEnd && r.IntN(3) > 0:
		case inTheEnd && policy == corev1.RestartPolicyOnFailure, isSidecar(c) && r.IntN(9) == 0:
			end(s, 0)
			return true
		case !isSidecar(c):
			end(s, tag(c.Image))
			return true
		}
	}
	return false
}

// actAsAgent has the agent of a pod's node go on with its requests, and what admission and the manager do about them. A dead one does nothing, and of
// a silent one the manager says so.
func actAsAgent(u *simulation.User, pod, next *corev1.Pod) {
	for _, o := range u.Objects(string(resourceRequests)) {
		request := o.(*lifecyclev1alpha1.ContainerRecreateRequest)
		if request.Name != RequestName(pod.UID) || request.Status.CompletionTime != nil || pod.Labels["agent"] == "dead" {
			continue
		}
		if request.Spec.Containers[0].StatusContext == nil {
			filled := request.DeepCopy()
			fillIn(filled, pod)
			data, _ := json.Marshal(map[string]any{"spec": filled.Spec}) // which always encodes
			u.Patch(string(resourceRequests), request.Name, string(data))
			continue
		}
		over := time.Since(request.CreationTimestamp.Time) >= time.Minute
		if pod.Labels["agent"] != "silent" {
			stopContainers(request, next)
			over = reflect.DeepEqual(pod.Status, next.Status)
		}
		if over {
			u.Patch(string(resourceRequests), request.Name, fmt.Sprintf(`{"status":{"phase":"Completed","completionTime":%q}}`, time.Now().UTC().Format(time.RFC3339)), "status")
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package persistentpodstate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/podstate"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/conformance/editing"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/internal/testing/simulation/planted"
)

// TestSimulation has users change a PersistentPodState and its StatefulSet at random, amid everything that can go wrong.
// Nodes come and go. The test judges each write of the controller, and where two replicas of the webhook send each new pod. A
// model plays the controller of the StatefulSet.
func TestSimulation(t *testing.T) {
	simulation.Check(t, simulated(&bug{}), simulation.Dying(simulated(&bug{})))
}

// TestSimulationReplays plays a seed twice: not a line of the history may differ.
// A shorter one is the beginning of a longer one.
func TestSimulationReplays(t *testing.T) {
	t.Parallel()
	simulation.CheckReplay(t, simulated(&bug{}), 1)
}

// TestUsersEditEveryField has the users of the histories edit every field of the spec that admission lets them edit.
func TestUsersEditEveryField(t *testing.T) {
	t.Parallel()
	editing.Check(t, editing.Subject[v1alpha1.PersistentPodState]{
		Create:    func(s *v1alpha1.PersistentPodState) field.ErrorList { return podstate.ValidateCreate(s, nil) },
		Update:    func(s, old *v1alpha1.PersistentPodState) field.ErrorList { return podstate.ValidateUpdate(s, old, nil) },
		Immutable: map[string]string{"targetRef": `{"targetRef":{"name":"other"}}`},
	}, simulated(&bug{}))
}

// simulated is what a simulation needs to know of PersistentPodStates, of whose parts one has a bug.
func simulated(bug *bug) *simulation.Subject {
	tested := controllers
	tested.Acts = func(p *Plan) bool { return p.Status != nil || len(p.Replace) > 0 }
	return &simulation.Subject{
		Resource: fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind(kind), string(resourceStates)),
		Empty:    func() simulation.Object { return &v1alpha1.PersistentPodState{} },
		Further: []simulation.Further{{
			Resource: fakecluster.BuiltIn(statefulSets, string(resourceStatefulSets), func() any { return &appsv1.StatefulSet{} }),
			Empty:    func() simulation.Object { return &appsv1.StatefulSet{} },
		}},
		Nodes:        3,
		Webhooks:     2,
		StartWebhook: func(p *simulation.Process) (simulation.Webhook, error) { return startWebhook(p, bug) },
		Create:       func(r *rand.Rand) simulation.Object { return anyState(r) },
		Start:        planted.Start(tested, bug.controller, simulatedOptions),
		Patience:     20 * time.Minute,
		Populate:     createSet,
		Others:       func(u *simulation.User, r *rand.Rand) { runSet(u) },
		Release:      runSet,
		Act:          bug.controller.Act(act),
		Rare: func(u *simulation.User, r *rand.Rand) { // as a network does, of which pods are to keep their addresses
			u.Edit(`{"spec":{"persistentPodAnnotations":[{"key":"ip"}]}}`)
			for _, pod := range u.Pods() {
				u.PatchPod(pod.Name, fmt.Sprintf(`{"metadata":{"annotations":{"ip":"10.0.0.%d"}}}`, r.IntN(9)))
			}
			u.Edit(simulation.AnyEdit(r, rareEdits))
		},
		Push:    push,
		Ignores: []string{string(caches.Claims), string(caches.Revisions)},
		Judge: func(uint64) simulation.Judge {
			return simulation.Judge{Write: invariants.PersistentPodState, Settled: invariants.PersistentPodStateSettled}
		},
	}
}

func simulatedOptions(p *simulation.Process) (o Options, err error) {
	o.Reader = planted.Read(p, resourceStates, resourcePods, resourceNodes, resourceStatefulSets)
	if o.Kubernetes, err = p.Kubernetes(); err == nil {
		o.Distribution, err = client.NewForConfig(p.Config)
	}
	return o, err
}

// startWebhook starts a replica of the webhook of pods, and judges where it sends them.
func startWebhook(p *simulation.Process, bug *bug) (simulation.Webhook, error) {
	states, nodes := p.Informer(string(resourceStates)), p.Informer(string(resourceNodes))
	if err := caches.AddIndexes(states, caches.ByNamespace); err != nil {
		return nil, err
	}
	restores := p.Seed%2 == 1
	placer := &Placer{options: PlacerOptions{RestoreAnnotations: restores}, reader: caches.Reader{resourceStates: states.GetIndexer(), resourceNodes: nodes.GetIndexer()}}
	return func(_ context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		pod, ok := request.Object.Object.(*corev1.Pod)
		if request.Operation != admissionv1.Create || !ok {
			return admission.Allowed()
		}
		place := placer.placed
		if bug.place != nil {
			place = func(namespace string, pod *corev1.Pod) (*podstate.Placement, error) {
				return bug.place(placer, namespace, pod)
			}
		}
		placement, err := place(request.Namespace, pod)
		if err != nil {
			return admission.Errored(err)
		}
		p.Violates(invariants.PersistentPodStatePlaced(p.Cached(), pod, placement.Pod, restores)...)
		*pod = *placement.Pod
		return admission.Allowed()
	}, nil
}

// anyState is the PersistentPodState of a seed: it requires the ring of nodes, or would have their zone.
func anyState(r *rand.Rand) *v1alpha1.PersistentPodState {
	s := &v1alpha1.PersistentPodState{Spec: v1alpha1.PersistentPodStateSpec{
		TargetReference:            v1alpha1.TargetReference{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "web"},
		RequiredPersistentTopology: &v1alpha1.NodeTopologyTerm{NodeTopologyKeys: []string{simulation.Ring}},
	}}
	for range r.IntN(4) {
		simulation.Merge(s, simulation.AnyEdit(r, stateEdits))
	}
	return s
}

// stateEdits are what users change about a PersistentPodState.
var stateEdits = simulation.ReadEdits("stateEdits")

// rareEdits are what users change seldom about an element of a list that stays.
var rareEdits = simulation.ReadEdits("rareEdits")

// act is what users do in a step, to the PersistentPodState, to the StatefulSet or to its pods.
func act(u *simulation.User, r *rand.Rand) {
	sets, pod := targets, u.AnyPod(r)
	switch n := r.IntN(20); {
	case n < 3:
		u.Edit(simulation.AnyEdit(r, stateEdits))
	case len(u.Objects(sets)) == 0:
		createSet(u, r)
	case n < 4:
		u.DeleteObject(sets, "web", []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground}[r.IntN(2)])
	case n < 8:
		u.Patch(sets, "web", simulation.Pick(`{"spec":{"replicas":%v}}`, 0, 1, 2, 3, 4, 5)(r))
	case n == 8:
		u.Patch(sets, "web", simulation.Pick(`{"spec":{"ordinals":%v}}`, "null", `{"start":1}`, `{"start":3}`)(r))
	case n == 9:
		u.Patch(sets, "web", simulation.Pick(`{"spec":{"template":{"spec":{"nodeSelector":%v}}}}`, "null", "null", `{"ring":"a"}`)(r))
	case n < 16 && pod != nil:
		u.DeletePod(pod.Name, nil)
	case pod != nil:
		u.PatchPod(pod.Name, fmt.Sprintf(`{"metadata":{"annotations":{"ip":"10.0.0.%d"}}}`, r.IntN(3)))
	}
}

// push is all that users do in the end: there are nodes of each ring, and the StatefulSet asks for none.
func push(u *simulation.User) {
	for i, ring := range []string{"a", "b", "a", "b", "a"} {
		u.ReadyNode(fmt.Sprint("n", i+1), ring)
	}
	if len(u.Objects(targets)) == 0 {
		createSet(u, rand.New(rand.NewPCG(0, 0)))
	}
	u.Patch(targets, "web", `{"spec":{"replicas":4,"template":{"spec":{"nodeSelector":null}}}}`)
}

// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/internal/testing/simulation/planted"
	"github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// TestSimulation has users ask for containers to be recreated, one request after the other, amid everything that can go wrong. They also
// change their pods at random. The test judges each write of the manager. A model plays the agents of nodes, of which one is silent in the
// end.
func TestSimulation(t *testing.T) {
	simulation.Check(t, simulated(&spoil{}))
}

// TestSimulationReplays plays a seed twice: not a line of the history may differ.
// A shorter one is the beginning of a longer one.
func TestSimulationReplays(t *testing.T) {
	t.Parallel()
	simulation.CheckReplay(t, simulated(&spoil{}), 1)
}

// simulated is what a simulation needs to know of ContainerRecreateRequests, whose manager has a bug.
func simulated(bug *spoil) *simulation.Subject {
	return &simulation.Subject{
		Resource: fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind("ContainerRecreateRequest"), string(resourceRequests)),
		Empty:    func() simulation.Object { return &v1alpha1.ContainerRecreateRequest{} },
		Create: func(r *rand.Rand) simulation.Object { // its pod has never been there
			return anyRequest(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p0", UID: "gone"}}, r)
		},
		Start:    planted.Start(simulatedPackage, *bug, simulatedOptions),
		Refusals: []invariants.Refusal{{Verb: "patch", Resource: string(resourcePods)}, {Verb: "patch", Resource: string(resourceRequests)}},
		Patience: 20 * time.Minute, // refusals are tried again every five
		Populate: func(u *simulation.User, _ *rand.Rand) {
			for i := range 4 {
				u.CreatePod(simulatedPod(i))
			}
		},
		Others:  func(u *simulation.User, r *rand.Rand) { actAsAgent(u, r.IntN(10) == 0) },
		Release: func(u *simulation.User) { actInTheEnd(u) },
		Act:     bug.Act(act),
		Push:    func(u *simulation.User) { u.Release("example.com/hold") }, // the manager removes its own
		Ignores: []string{string(caches.Claims), string(caches.Revisions)},
		Judge: func(uint64) simulation.Judge {
			return simulation.Judge{Write: invariants.Recreate, Settled: invariants.RecreateSettled}
		},
	}
}

// simulatedPackage is what histories need of this package.
var simulatedPackage = fixture.Package[Options, Snapshot, Plan]{NewReconciler: NewReconciler, Acts: func(p *Plan) bool { return len(p.Steps) > 0 }}

func simulatedOptions(p *simulation.Process) (o Options, err error) {
	o.Reader = planted.Read(p, resourceRequests, resourcePods)
	if o.Kubernetes, err = p.Kubernetes(); err == nil {
		o.Lifecycle, err = client.NewForConfig(p.Config)
	}
	return o, err
}

// silent is the pod whose agent does nothing any more in the end.
const silent = "p3"

// simulatedPod is a pod of the histories: one in four has no gate, and another is the mirror of a static pod.
func simulatedPod(i int) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("p", i), Labels: map[string]string{"app": "web"}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:1"}, {Name: "side", Image: "envoy:1"}},
			ReadinessGates: []corev1.PodReadinessGate{{ConditionType: v1alpha1.KruisePodReady}}},
	}
	switch i {
	case 1:
		pod.Spec.ReadinessGates = nil
	case 4:
		pod.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"}
	}
	return pod
}

// anyRequest is a request about a pod, filled in as admission does. (CRR-3.3)
func anyRequest(pod *corev1.Pod, r *rand.Rand) *v1alpha1.ContainerRecreateRequest {
	request := &v1alpha1.ContainerRecreateRequest{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{
			v1alpha1.ContainerRecreateRequestActiveLabel: "true", v1alpha1.ContainerRecreateRequestNodeNameLabel: pod.Spec.NodeName,
			v1alpha1.ContainerRecreateRequestPodUIDLabel: string(pod.UID)}},
		Spec: v1alpha1.ContainerRecreateRequestSpec{PodName: pod.Name, Strategy: &v1alpha1.ContainerRecreateRequestStrategy{
			FailurePolicy: v1alpha1.ContainerRecreateRequestFailurePolicyFail, OrderedRecreate: r.IntN(2) == 0}},
	}
	if pod.UID == "gone" { // the first one
		request.Spec.Containers = []v1alpha1.ContainerRecreateRequestContainer{{Name: "main"}}
	}
	for _, status := range pod.Status.ContainerStatuses[:min(1+r.IntN(2), len(pod.Status.ContainerStatuses))] {
		request.Spec.Containers = append(request.Spec.Containers, v1alpha1.ContainerRecreateRequestContainer{Name: status.Name,
			StatusContext: &v1alpha1.ContainerRecreateRequestContainerContext{ContainerID: status.ContainerID, RestartCount: status.RestartCount}})
	}
	for range r.IntN(4) {
		simulation.Merge(request, simulation.AnyEdit(r, requestEdits))
	}
	return request
}

// requestEdits are what requests ask for.
var requestEdits = simulation.ReadEdits("requestEdits")

// act is what users do in a step, and others to pods.
func act(u *simulation.User, r *rand.Rand) {
	request, pod := u.Workload().(*v1alpha1.ContainerRecreateRequest), u.AnyPod(r)
	switch n := r.IntN(12); {
	case n < 6 && (request.Status.CompletionTime != nil || r.IntN(4) == 0):
		u.Delete(metav1.DeletePropagationBackground)
		u.Release("example.com/hold")
		if pod != nil && pod.Spec.NodeName != "" && pod.DeletionTimestamp == nil && len(pod.Status.ContainerStatuses) > 0 {
			u.CreateAs(anyRequest(pod, r))
		}
	case n < 9 || pod == nil:
		u.CreatePod(simulatedPod(r.IntN(5)))
	case n == 9:
		takeOut(u, pod, r)
	case n == 10:
		u.DeletePod(pod.Name, nil)
	default: // a container restarts by itself
		restart(u, pod, r.IntN(2))
	}
}

// takeOut has another client take a pod out of service for a reason of its own, or put it back.
func takeOut(u *simulation.User, pod *corev1.Pod, r *rand.Rand) {
	var all []map[string]string
	for _, c := range pod.Status.Conditions {
		if c.Type == v1alpha1.KruisePodReady && c.Status == corev1.ConditionFalse && json.Unmarshal([]byte(c.Message), &all) != nil {
			return
		}
	}
	all = slices.DeleteFunc(all, func(reason map[string]string) bool { return reason["userAgent"] == "Other" })
	if r.IntN(2) == 0 {
		all = append(all, map[string]string{"userAgent": "Other", "key": "theirs"})
	}
	message, status := "", corev1.ConditionTrue
	if len(all) > 0 {
		data, _ := json.Marshal(all) // strings always encode
		message, status = string(data), corev1.ConditionFalse
	}
	patch, _ := json.Marshal(map[string]any{"status": map[string]any{"conditions": []corev1.PodCondition{{Type: v1alpha1.KruisePodReady, Status: status, Message: message}}}})
	u.PatchPod(pod.Name, string(patch), "status")
}

// restart has a container of a pod be another one, which is not ready yet.
func restart(u *simulation.User, pod *corev1.Pod, which int) {
	next := pod.DeepCopy()
	if which >= len(next.Status.ContainerStatuses) || pod.DeletionTimestamp != nil {
		return
	}
	status := &next.Status.ContainerStatuses[which]
	status.RestartCount++
	status.ContainerID, status.Ready = fmt.Sprintf("fakecluster://%s-%s-%d", pod.UID, status.Name, status.RestartCount), false
	status.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}
	u.UpdatePod("restarts a container", next)
}

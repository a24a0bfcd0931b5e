// SPDX-License-Identifier: Apache-2.0

package nodepodprobe

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// simulatedPods is how many pods there may be.
const simulatedPods = 5

// simulatedMarkers are the markers beside web. The name web ends with the first name, and begins with the second.
var simulatedMarkers = []string{"eb", "we"}

// anyProbes are probes that write the same keys and conditions in turn.
var anyProbes = []v1alpha1.PodContainerProbe{
	newProbe("idle", "Idle", annotates(sets(v1alpha1.ProbeSucceeded, "idle=yes"), "cost=1"), sets(v1alpha1.ProbeFailed, "idle=no")),
	newProbe("busy", "Busy", sets(v1alpha1.ProbeSucceeded, "idle=no", "busy=yes")),
	newProbe("cost", "", annotates(sets(v1alpha1.ProbeSucceeded), "cost=1"), sets(v1alpha1.ProbeFailed, "busy=no")),
	newProbe("same", "Idle", annotates(sets(v1alpha1.ProbeFailed), "cost=2")),
	newProbe("native", string(corev1.PodReady), sets(v1alpha1.ProbeFailed, "native=1")),
}

// annotates gives a policy annotations, as key=value.
func annotates(policy v1alpha1.ProbeMarkerPolicy, pairs ...string) v1alpha1.ProbeMarkerPolicy {
	policy.Annotations = sets(policy.State, pairs...).Labels
	return policy
}

// someProbes picks at least one.
func someProbes(r *rand.Rand) (some []v1alpha1.PodContainerProbe) {
	for _, i := range r.Perm(len(anyProbes))[:1+r.IntN(len(anyProbes))] {
		probe := *anyProbes[i].DeepCopy()
		probe.Probe = exec(fmt.Sprint("/", r.IntN(2)))
		probe.HideOutput = r.IntN(8) == 0
		some = append(some, probe)
	}
	return some
}

// anyMarker is a marker that selects the pods of an app.
func anyMarker(name string, r *rand.Rand) *v1alpha1.PodProbeMarker {
	m := newMarker(name, someProbes(r)...)
	m.ObjectMeta = metav1.ObjectMeta{Name: name, Namespace: simulation.Web.Namespace}
	m.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	return m
}

// createPod creates a pod that is selected, or not, and may say itself of which markers it has the probes. The webhook is asked about it.
func createPod(u *simulation.User, i int, app, markers string) {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("p", i), Namespace: simulation.Web.Namespace, Labels: map[string]string{"app": app}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:1"}}},
	}
	if markers != "" {
		pod.Annotations = map[string]string{v1alpha1.PodProbeMarkersAnnotation: markers}
	}
	response := u.Admit(&admissionv1.AdmissionRequest{Operation: admissionv1.Create, Namespace: pod.Namespace, Object: runtime.RawExtension{Object: pod}})
	if response == nil || response.Allowed {
		u.CreatePod(pod)
	}
}

// populate makes the first pods, and a marker beside web.
func populate(u *simulation.User, r *rand.Rand) {
	for i := range 3 {
		createPod(u, i, "web", "")
	}
	if r.IntN(2) == 0 {
		u.CreateObject(markersPlayed, anyMarker("eb", r))
	}
	if r.IntN(2) == 0 {
		u.LabelNode("n2", isVirtual)
	}
}

// isVirtual are the labels of a virtual node.
var isVirtual = map[string]any{"type": "virtual-kubelet"}

// provide has what runs the pods of virtual nodes write a result as a condition, and tells whether the pod is on one.
func provide(u *simulation.User, pod *corev1.Pod, conditionType string, status corev1.ConditionStatus) bool {
	for _, object := range u.Objects("nodes") {
		if object.GetName() == pod.Spec.NodeName && object.GetLabels()["type"] == "virtual-kubelet" && pod.DeletionTimestamp == nil {
			u.PatchPod(pod.Name, fmt.Sprintf(`{"status":{"conditions":[{"type":%q,"status":%q}]}}`, conditionType, status), "status")
			return true
		}
	}
	return false
}

// act is what users do in a step.
func act(u *simulation.User, r *rand.Rand) {
	markers, pod := markersPlayed, u.AnyPod(r)
	name := append(simulatedMarkers, simulation.Web.Name)[r.IntN(3)]
	switch n := r.IntN(21); {
	case n == 20:
		u.LabelNode([]string{"n1", "n2"}[r.IntN(2)], []map[string]any{isVirtual, {"type": nil}}[r.IntN(2)])
	case n < 4:
		probes, _ := json.Marshal(someProbes(r))
		u.Patch(markers, name, fmt.Sprintf(`{"spec":{"probes":%s}}`, probes))
	case n < 7:
		u.CreateObject(markers, anyMarker(name, r))
	case n < 9:
		u.DeleteObject(markers, name, metav1.DeletePropagationBackground)
	case n < 13:
		createPod(u, r.IntN(simulatedPods), []string{"web", "web", "db"}[r.IntN(3)], []string{"", "", "eb", "web,none"}[r.IntN(4)])
	case pod == nil:
	case n < 15:
		u.DeletePod(pod.Name, nil)
	case n < 17:
		u.PatchPod(pod.Name, fmt.Sprintf(`{"metadata":{"labels":{"app":%q}}}`, []string{"web", "web", "db"}[r.IntN(3)]))
	case n < 18:
		u.PatchPod(pod.Name, simulation.Pick(`{"metadata":{"labels":{"idle":%v}}}`, "null", `"maybe"`)(r))
	default:
		u.PatchPod(pod.Name, simulation.Pick(`{"metadata":{"annotations":{"theirs":"%v"}}}`, 1, 2)(r))
	}
}

// actRarely is what users change seldom about a probe that stays: what it is of, and what becomes of its result.
func actRarely(u *simulation.User, r *rand.Rand) {
	m := u.Workload().DeepCopyObject().(*v1alpha1.PodProbeMarker)
	probe := &m.Spec.Probes[r.IntN(len(m.Spec.Probes))]
	of := anyProbes[r.IntN(len(anyProbes))].DeepCopy()
	switch r.IntN(3) {
	case 0:
		probe.ContainerName = []string{"main", "main", "side"}[r.IntN(3)]
	case 1:
		probe.PodConditionType = of.PodConditionType
	default:
		probe.MarkerPolicy = of.MarkerPolicy
	}
	probes, _ := json.Marshal(m.Spec.Probes)
	u.Edit(fmt.Sprintf(`{"spec":{"probes":%s}}`, probes))
}

// initialize has the init containers of a pod end that is on a node.
func initialize(u *simulation.User, pod *corev1.Pod) {
	if pod.Spec.NodeName != "" && pod.DeletionTimestamp == nil && !v1alpha1.CanBeProbed(pod) {
		u.PatchPod(pod.Name, `{"status":{"conditions":[{"type":"Initialized","status":"True"}]}}`, "status")
	}
}

// report has the init containers of a pod end, and an agent report something about what its node asks for, or asked for.
func report(u *simulation.User, r *rand.Rand) {
	if pod := u.AnyPod(r); pod != nil && r.IntN(2) == 0 {
		initialize(u, pod)
		provide(u, pod, []string{"Idle", "Busy"}[r.IntN(2)], []corev1.ConditionStatus{corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionUnknown}[r.IntN(3)])
		return
	}
	n, _ := u.AnyObject(reportsPlayed, r).(*v1alpha1.NodePodProbe)
	if n == nil {
		return
	}
	states := []v1alpha1.ProbeState{v1alpha1.ProbeSucceeded, v1alpha1.ProbeFailed, v1alpha1.ProbeUnknown}
	status := reportOn(n, func(before v1alpha1.ProbeState) v1alpha1.ProbeState {
		if before != "" && r.IntN(2) == 0 {
			return before
		}
		return states[r.IntN(len(states))]
	})
	if r.IntN(4) == 0 { // it has not seen that probes are gone
		status.PodProbeStatuses = append(status.PodProbeStatuses, v1alpha1.PodProbeStatus{Namespace: "default", Name: "p0", UID: "gone",
			ProbeStates: []v1alpha1.ContainerProbeState{{Name: "web#idle", State: v1alpha1.ProbeFailed}}})
	}
	write(u, n, status)
}

// reportOn is a report on all that a node asks for, given what the last one said of it.
func reportOn(n *v1alpha1.NodePodProbe, state func(before v1alpha1.ProbeState) v1alpha1.ProbeState) *v1alpha1.NodePodProbeStatus {
	type probe struct {
		pod  types.UID
		name string
	}
	before := map[probe]v1alpha1.ProbeState{}
	for _, pod := range n.Status.PodProbeStatuses {
		for _, s := range pod.ProbeStates {
			before[probe{pod.UID, s.Name}] = s.State
		}
	}
	status := &v1alpha1.NodePodProbeStatus{PodProbeStatuses: []v1alpha1.PodProbeStatus{}}
	for i := range n.Spec.PodProbes {
		pod := &n.Spec.PodProbes[i]
		s := v1alpha1.PodProbeStatus{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID}
		for j := range pod.Probes {
			name := pod.Probes[j].Name
			s.ProbeStates = append(s.ProbeStates, v1alpha1.ContainerProbeState{Name: name, State: state(before[probe{pod.UID, name}])})
		}
		status.PodProbeStatuses = append(status.PodProbeStatuses, s)
	}
	return status
}

func write(u *simulation.User, n *v1alpha1.NodePodProbe, status *v1alpha1.NodePodProbeStatus) {
	data, _ := json.Marshal(map[string]any{"status": status})
	u.Patch(reportsPlayed, n.Name, string(data), "status")
}

// reportMissing is what happens in the end: init containers end, and agents report on what they have not.
func reportMissing(u *simulation.User) {
	for _, pod := range u.Pods() {
		initialize(u, pod)
		idle := slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == "Idle" })
		if v1alpha1.CanBeProbed(pod) && !idle {
			provide(u, pod, "Idle", corev1.ConditionTrue)
		}
	}
	for _, object := range u.Objects(reportsPlayed) {
		n := object.(*v1alpha1.NodePodProbe)
		if n.DeletionTimestamp != nil {
			continue
		}
		missing := false
		status := reportOn(n, func(before v1alpha1.ProbeState) v1alpha1.ProbeState {
			if before == "" {
				missing = true
				return v1alpha1.ProbeFailed
			}
			return before
		})
		if missing {
			write(u, n, status)
		}
	}
}

// These are the resources of the markers, and of what nodes report.
const markersPlayed, reportsPlayed = "podprobemarkers", "nodepodprobes"

// push is all that users do in the end: there is a marker, pods that it selects, and nodes for them.
func push(u *simulation.User) {
	for i, ring := range []string{"a", "b"} {
		u.ReadyNode(fmt.Sprint("n", i+1), ring)
	}
	if u.Workload() == nil {
		u.Create()
	}
	for i := range 3 {
		createPod(u, i, "web", "")
	}
}

// SPDX-License-Identifier: Apache-2.0

package together

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

type bug struct {
	// cloneSetSees and sidecarSetSees change copies of pods that the controllers read; nil changes none.
	cloneSetSees, sidecarSetSees func(*corev1.Pod)
	// cloneSetWrites changes what the controller of CloneSets writes.
	cloneSetWrites func(http.RoundTripper) http.RoundTripper
}

// TestSimulationFindsBugs plants bugs, each of which a few seeds must find.
func TestSimulationFindsBugs(t *testing.T) {
	var bugs []simulation.Bug
	for _, b := range []struct {
		name   string
		breaks invariants.Invariant
		seed   uint64
		bug    bug
	}{
		{"the update of the sidecar is not waited for", invariants.Exclusive, 1, bug{cloneSetSees: func(pod *corev1.Pod) {
			delete(pod.Annotations, v1alpha1.SidecarSetInPlaceUpdateStateAnnotation)
		}}},
		{"the update of the sidecar is waited for for ever", invariants.Settled, 6, bug{cloneSetSees: func(pod *corev1.Pod) {
			var records map[string]v1alpha1.SidecarSetUpgradeRecord
			if json.Unmarshal([]byte(pod.Annotations[v1alpha1.SidecarSetHashAnnotation]), &records) != nil {
				return
			}
			for set, record := range records {
				record.UpdateTimestamp = metav1.NewTime(time.Now())
				records[set] = record
			}
			data, err := json.Marshal(records)
			if err != nil {
				panic(err)
			}
			pod.Annotations[v1alpha1.SidecarSetHashAnnotation] = string(data)
		}}},
		{"an update begins on a pod that has changed since it was read", invariants.Exclusive, 3, bug{
			cloneSetWrites: simulation.Forgetting(http.MethodPatch, "pods", "metadata", "resourceVersion")}},
		{"another container's restart completes the update", invariants.InPlace, 11, bug{cloneSetSees: func(pod *corev1.Pod) {
			restarted := slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool { return s.Name != "main" && s.RestartCount > 0 })
			for i := range pod.Status.ContainerStatuses {
				if s := &pod.Status.ContainerStatuses[i]; s.Name == "main" && restarted {
					s.Image = imageOf(pod, s.Name)
					s.ImageID = "sha256:" + s.Image
				}
			}
		}}},
		{"annotations of the SidecarSet are dropped", invariants.InPlace, 0, bug{
			cloneSetWrites: simulation.SpoilBodies(http.MethodPatch, "pods", func(body map[string]any) {
				if metadata, ok := body["metadata"].(map[string]any); ok && metadata["annotations"] != nil {
					metadata["annotations"].(map[string]any)[v1alpha1.SidecarSetInPlaceUpdateStateAnnotation] = nil
				}
			})}},
		{"the update of the workload is not waited for", invariants.Exclusive, 2, bug{sidecarSetSees: func(pod *corev1.Pod) {
			delete(pod.Annotations, inplacev1alpha1.StateAnnotation)
			openGate(pod)
		}}},
	} {
		bugs = append(bugs, simulation.Bug{Name: b.name, Breaks: b.breaks, First: b.seed, Workload: simulated(&b.bug)})
	}
	simulation.FindBugs(t, bugs)
}

// openGate has a pod look as if no update kept it out of service.
func openGate(pod *corev1.Pod) {
	if gate := readiness.Condition(pod, inplacev1alpha1.InPlaceUpdateReady); gate != nil {
		*gate = corev1.PodCondition{Type: gate.Type, Status: corev1.ConditionTrue, LastTransitionTime: gate.LastTransitionTime}
	}
}

func imageOf(pod *corev1.Pod, name string) string {
	for i := range pod.Spec.Containers {
		if pod.Spec.Containers[i].Name == name {
			return pod.Spec.Containers[i].Image
		}
	}
	return ""
}

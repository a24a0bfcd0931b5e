// SPDX-License-Identifier: Apache-2.0

package nodepodprobe_test

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/lifecycle/probe/nodepodprobe"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// What becomes of a result: a condition and an annotation, in one request.
func ExampleNewPlan() {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "game-0", UID: "4711", Labels: map[string]string{"app": "game"}},
		Spec:       corev1.PodSpec{NodeName: "node-1"},
		Status:     corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodInitialized, Status: corev1.ConditionTrue}}},
	}
	marker := &v1alpha1.PodProbeMarker{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "games"}, Spec: v1alpha1.PodProbeMarkerSpec{
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "game"}},
		Probes: []v1alpha1.PodContainerProbe{{Name: "idle", ContainerName: "main", PodConditionType: "game.io/idle",
			MarkerPolicy: []v1alpha1.ProbeMarkerPolicy{{State: v1alpha1.ProbeSucceeded, Annotations: map[string]string{"controller.kubernetes.io/pod-deletion-cost": "-10"}}}}},
	}}
	at := metav1.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	plan := nodepodprobe.NewPlan(&nodepodprobe.Snapshot{
		Node: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}}, Pods: []*corev1.Pod{pod}, Markers: map[string][]*v1alpha1.PodProbeMarker{"shop": {marker}},
		NodePodProbe: &v1alpha1.NodePodProbe{Status: v1alpha1.NodePodProbeStatus{PodProbeStatuses: []v1alpha1.PodProbeStatus{{
			Namespace: "shop", Name: "game-0", UID: "4711", ProbeStates: []v1alpha1.ContainerProbeState{{
				Name: "games#idle", State: v1alpha1.ProbeSucceeded, LastProbeTime: &at, LastTransitionTime: &at}}}}}},
	})
	for _, p := range plan.Patches {
		writes, err := p.Writes(p.Pod)
		if err != nil || len(writes) != 1 {
			fmt.Println(writes, err)
			return
		}
		fmt.Println("patch", p.Pod.Name, string(writes[0].Data))
	}
	// Output:
	// patch game-0 {"metadata":{"annotations":{"controller.kubernetes.io/pod-deletion-cost":"-10"},"uid":"4711"},"status":{"conditions":[{"type":"game.io/idle","status":"True","reason":null,"message":null,"lastProbeTime":"2026-01-02T03:04:05Z","lastTransitionTime":"2026-01-02T03:04:05Z"}]}}
}

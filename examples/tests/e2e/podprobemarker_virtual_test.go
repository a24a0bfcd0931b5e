// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	lifecycleclient "github.com/podwright/podwright/lifecycle/client"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// probesOnVirtualNode makes a node that no kubelet takes care of a virtual one, and plays what runs its pods: a new pod has its probes in
// annotations, and labels follow the conditions that are written. No agent is asked. (PPM-1.7, PPM-3.9)
func probesOnVirtualNode(t *testing.T, of *cloneSetFixture, node string) {
	s := &probedFixture{cloneSetFixture: of}
	var err error
	if s.lifecycle, err = lifecycleclient.NewForConfig(s.Config()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Core.CoreV1().Nodes().Patch(t.Context(), node, types.MergePatchType, []byte(`{"metadata":{"labels":{"type":"virtual-kubelet"}}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	markers, pods := s.lifecycle.PodProbeMarkers(s.Namespace), s.Core.CoreV1().Pods(s.Namespace)
	if _, err := markers.Create(t.Context(), s.marker("games"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = markers.Delete(context.Background(), "games", metav1.DeleteOptions{})
		_ = pods.Delete(context.Background(), "virtual", metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))})
	})
	pod := plainPod("virtual", webPod, func(pod *corev1.Pod) { pod.Spec.NodeName = node })
	s.AwaitAsking("PPM-1.7: the webhook is asked about the pods", func() string {
		asked, err := pods.Create(t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil || asked.Annotations[lifecyclev1alpha1.PodProbesAnnotation] == "" {
			return fmt.Sprintf("error %v, annotations %v", err, asked.GetAnnotations())
		}
		return ""
	})
	created, err := pods.Create(t.Context(), pod, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var probes []lifecyclev1alpha1.PodContainerProbe
	if err := json.Unmarshal([]byte(created.Annotations[lifecyclev1alpha1.PodProbesAnnotation]), &probes); err != nil || len(probes) != 1 ||
		probes[0].PodConditionType != "game.io/Idle" || probes[0].MarkerPolicy != nil || created.Annotations[lifecyclev1alpha1.PodProbeMarkersAnnotation] != "games" {
		t.Errorf("PPM-1.7: error %v, annotations %v", err, created.Annotations)
	}

	tell := func(status corev1.ConditionStatus) {
		t.Helper()
		patch := fmt.Sprintf(`{"status":{"phase":"Running","conditions":[{"type":"Initialized","status":"True"},{"type":"game.io/Idle","status":%q}]}}`, status)
		if _, err := pods.Patch(t.Context(), "virtual", types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}, "status"); err != nil {
			t.Fatal(err)
		}
	}
	tell(corev1.ConditionTrue)
	s.AwaitPod("virtual", "PPM-3.9: labels follow the condition", shows(corev1.ConditionTrue, "yes", "-10"))
	tell(corev1.ConditionFalse)
	s.AwaitPod("virtual", "PPM-3.9: what the other state has set is gone", shows(corev1.ConditionFalse, "no", ""))
	if asked := s.asked(); len(asked) > 0 {
		t.Errorf("PPM-3.9: an agent is asked for %v", asked)
	}
}

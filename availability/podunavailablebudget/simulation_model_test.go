// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/testing/simulation"
)

// actWithoutGate is one thing that another workload does, whose pods have no readiness gate. So they go on to be ready while it updates
// them in place. It creates a pod that is missing, and gives one that runs its image another image. (IP-14, IP-E15)
func actWithoutGate(u *simulation.User, r *rand.Rand) {
	name, image := fmt.Sprint("bare-", r.IntN(3)), fmt.Sprint("nginx:", 1+r.IntN(3))
	i := slices.IndexFunc(u.Pods(), func(pod *corev1.Pod) bool { return pod.Name == name })
	if i < 0 {
		u.CreatePod(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "web"}}, Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "main", Image: image, StartupProbe: &corev1.Probe{PeriodSeconds: []int32{10, 30}[r.IntN(2)], ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"up"}}}}}}}})
		return
	}
	pod := u.Pods()[i]
	is := pod.Spec.Containers[0].Image
	if len(pod.Status.ContainerStatuses) == 0 || pod.Status.ContainerStatuses[0].Image != is || image == is || !simulation.Active(pod) {
		return
	}
	ran := &pod.Status.ContainerStatuses[0]
	state, _ := json.Marshal(&inplacev1alpha1.State{UpdateTimestamp: metav1.NewTime(time.Now().Truncate(time.Second)), // it always encodes
		LastContainerStatuses: map[string]inplacev1alpha1.ContainerStatus{"main": {ImageID: ran.ImageID}},
		LastContainers:        map[string]inplacev1alpha1.LastContainer{"main": {ContainerID: ran.ContainerID, Images: []string{is}, Image: image}}})
	patch, _ := json.Marshal(map[string]any{ // so does it
		"metadata": map[string]any{"resourceVersion": pod.ResourceVersion, "annotations": map[string]string{inplacev1alpha1.StateAnnotation: string(state)}},
		"spec":     map[string]any{"containers": []map[string]string{{"name": "main", "image": image}}},
	})
	u.AskPatch(pod, string(patch))
}

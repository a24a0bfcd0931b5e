// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"encoding/json"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/inplace/podpatch"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// UpdateSidecar gives a container of a pod another image, as a SidecarSet named logs does
// at that time. The kubelet has not acted on it yet.
func UpdateSidecar(t TB, pod *corev1.Pod, container, image string, at time.Time) {
	t.Helper()
	state := &inplacev1alpha1.State{}
	if err := inplace.Replace(&podpatch.Patch{}, pod, container, image, state); err != nil {
		t.Fatal(err)
	}
	for i := range pod.Spec.Containers {
		if c := &pod.Spec.Containers[i]; c.Name == container {
			c.Image = image
		}
	}
	since := metav1.NewTime(at)
	for key, value := range map[string]any{
		v1alpha1.SidecarSetHashAnnotation: map[string]v1alpha1.SidecarSetUpgradeRecord{"logs": {UpdateTimestamp: since, SidecarSetHash: "h", SidecarSetName: "logs"}},
		v1alpha1.SidecarSetInPlaceUpdateStateAnnotation: map[string]v1alpha1.SidecarSetInPlaceUpdateState{"logs": {
			Revision: "h", UpdateTimestamp: since, LastContainerStatuses: state.LastContainerStatuses, LastContainers: state.LastContainers}},
	} {
		data, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		metav1.SetMetaDataAnnotation(&pod.ObjectMeta, key, string(data))
	}
}

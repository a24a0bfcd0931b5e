// SPDX-License-Identifier: Apache-2.0

package inplace

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/v1alpha1"
)

// TestPlainStateIsJSON: IP-13. A state that is written without encoding/json has the bytes that it would write.
func TestPlainStateIsJSON(t *testing.T) {
	times := []metav1.Time{{}, metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("", 3600)))}
	for i := range 12 {
		of := []string{"web-2", "main", "docker://sha256:0a", "containerd://1", "nginx:1.27", "nginx:~ 2"}
		began, batch := times[i%2], times[(i+1)%2]
		of[i/2] = ""
		s := plainState{revision: of[0], began: began, container: of[1], imageID: of[2], containerID: of[3], before: of[4], image: of[5]}
		want, err := json.Marshal(v1alpha1.State{Revision: of[0], UpdateTimestamp: began,
			LastContainerStatuses:  map[string]v1alpha1.ContainerStatus{of[1]: {ImageID: of[2]}},
			ContainerBatchesRecord: []v1alpha1.ContainerBatch{{Timestamp: batch, Containers: []string{of[1]}}},
			LastContainers:         map[string]v1alpha1.LastContainer{of[1]: {ContainerID: of[3], Images: []string{of[4]}, Image: of[5]}}})
		if diff := cmp.Diff(string(want), string(s.append(nil, batch))); diff != "" || err != nil {
			t.Errorf("%q: error %v, the record (-want +got):\n%s", of, err, diff)
		}
	}
}

// IP-13: a state is not plain if it has a text that JSON writes otherwise.
func TestOddTextsAreNotPlain(t *testing.T) {
	for i := range 6 {
		for _, odd := range []string{"a<b", "a>b", `a"b`, `a\b`, "a&b", "\u2028", "\x00", "\x1f", "\xff"} {
			of := []string{"web-2", "main", "docker://sha256:0a", "containerd://1", "nginx:1.27", "nginx:1.28"}
			of[i] = odd
			pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: of[1], Image: of[4]}}}}
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: of[1], ImageID: of[2], ContainerID: of[3]}}
			if _, plain := plainOf(pod, &v1alpha1.State{Revision: of[0]}, change{images: map[string]string{of[1]: of[5]}}, change{}); plain {
				t.Errorf("%q is plain", of)
			}
		}
	}
}

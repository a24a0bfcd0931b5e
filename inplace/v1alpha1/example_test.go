// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"encoding/json"
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/v1alpha1"
)

// What a controller has written into a pod that it updates in place.
func ExampleState() {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{
		v1alpha1.StateAnnotation: `{"revision":"web-6c8b","updateTimestamp":"2026-01-01T00:00:00Z","lastContainerStatuses":{"main":{"imageID":"sha256:1"}}}`,
	}}}

	var state v1alpha1.State
	if err := json.Unmarshal([]byte(pod.Annotations[v1alpha1.StateAnnotation]), &state); err != nil {
		log.Fatal(err)
	}
	fmt.Println("to revision", state.Revision, "since", state.UpdateTimestamp.UTC())
	fmt.Println("main ran", state.LastContainerStatuses["main"].ImageID)
	// Output:
	// to revision web-6c8b since 2026-01-01 00:00:00 +0000 UTC
	// main ran sha256:1
}

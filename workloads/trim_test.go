// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

var _ cache.TransformFunc = Trim

func TestTrim(t *testing.T) {
	trimmed, err := Trim(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web-0", ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "x"}}}})
	if err != nil {
		t.Fatal(err)
	}
	if pod := trimmed.(*corev1.Pod); pod.Name != "web-0" || pod.ManagedFields != nil {
		t.Errorf("trimmed to %v", pod)
	}
}

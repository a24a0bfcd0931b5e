// SPDX-License-Identifier: Apache-2.0

package fakecluster_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// In a namespace that is being deleted nothing can be created, and no pod can be bound. What is there goes when the namespace
// is swept. Pods go after their grace period, and objects with finalizers once these are removed. Other namespaces do not
// change.
func TestNamespaceThatEnds(t *testing.T) {
	f := newFixture(t)
	f.pod()
	f.bind("web")
	named := func(name string) *corev1.Pod {
		return f.pod(func(pod *corev1.Pod) { pod.Name, pod.Finalizers = name, []string{"example.com/holder"} })
	}
	held := named("held")
	f.EndNamespace("shop")

	_, err := f.kube.CoreV1().Pods("shop").Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "new"}}, metav1.CreateOptions{})
	bound := f.kube.CoreV1().Pods("shop").Bind(t.Context(), &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "held"}, Target: corev1.ObjectReference{Name: "n1"}}, metav1.CreateOptions{})
	for what, err := range map[string]error{"creation": err, "binding": bound} {
		if !apierrors.IsForbidden(err) || !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
			t.Errorf("%s: error %v, want that the namespace is being deleted", what, err)
		}
	}
	if _, err := f.kube.CoreV1().Pods("other").Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "new"}}, metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}

	if first, again := f.Sweep("shop", "pods"), f.Sweep("shop", "pods"); first != 2 || again != 0 {
		t.Errorf("%d deletions begin, and then %d, want 2 and none", first, again)
	}
	if pod := must(f.get("web"))(t); pod.DeletionTimestamp == nil || *pod.DeletionGracePeriodSeconds != 30 {
		t.Errorf("the pod on a node: %+v", pod.ObjectMeta)
	}
	f.Finalize("pods", "shop", held.Name, nil)
	_, err = f.get(held.Name)
	wantError(t, err, apierrors.IsNotFound)
}

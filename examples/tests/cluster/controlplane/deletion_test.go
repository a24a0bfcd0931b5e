// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
)

func TestOnlyTerminatingPodsAreDeleted(t *testing.T) {
	uid, late := types.UID("1"), metav1.Now()
	for _, test := range []struct {
		name  string
		known *corev1.Pod
		want  *metav1.Preconditions
	}{
		{"a terminating pod", &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "web-0", UID: uid, DeletionTimestamp: &late}}, &metav1.Preconditions{UID: &uid}},
		{"the next one of its name", &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "web-0", UID: uid}}, nil},
		{"the next one, not bound yet", &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "b", Name: "web-0", UID: uid, DeletionTimestamp: &late}}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			client, known := fake.NewClientset(), cache.NewStore(cache.MetaNamespaceKeyFunc)
			if err := known.Add(test.known); err != nil {
				t.Fatal(err)
			}
			_ = sparing{client, known}.CoreV1().Pods("a").Delete(t.Context(), "web-0", *metav1.NewDeleteOptions(0))
			var got *metav1.Preconditions
			for _, action := range client.Actions() {
				got = action.(clienttesting.DeleteActionImpl).DeleteOptions.Preconditions
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("preconditions of the deletion, nil where there is none (-want +got):\n%s", diff)
			}
		})
	}
}

// SPDX-License-Identifier: Apache-2.0

package fakecluster_test

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/fakecluster"
)

// TestAdmitAgain: a write that another one overtakes while it is decided about is asked about again.
func TestAdmitAgain(t *testing.T) {
	f, ctx := newFixture(t), t.Context()
	pods := f.kube.CoreV1().Pods("shop")
	f.pod()
	calls := 0
	f.AdmitBy(func(ctx context.Context, r fakecluster.Request, _, after *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		if r.User != "test" || after.GetLabels()["mine"] == "" {
			return after, nil
		}
		if calls++; calls == 1 {
			_, err := pods.Patch(ctx, "web", types.MergePatchType, []byte(`{"metadata":{"labels":{"other":"1"}}}`), metav1.PatchOptions{})
			return after, err
		}
		return after, nil
	})
	pod, err := pods.Patch(ctx, "web", types.MergePatchType, []byte(`{"metadata":{"labels":{"mine":"1"}}}`), metav1.PatchOptions{})
	if err != nil || pod.Labels["other"] != "1" || pod.Labels["mine"] != "1" || calls != 2 {
		t.Errorf("error %v, labels %v, asked %d times", err, pod.Labels, calls)
	}
}

// admit notes what it is asked about, and marks what is to be stored. It lists pods: a client of the server does not wait for the write
// that is asked about.
func (w *world) admit(ctx context.Context, r fakecluster.Request, before, after *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	line := r.String()
	if before != nil {
		line += " of " + before.GetLabels()["app"]
	}
	if after != nil && after.GetKind() == "Pod" {
		line += " to " + after.GetLabels()["app"]
		after = after.DeepCopy()
		after.SetAnnotations(map[string]string{"seen": "yes"})
	}
	w.asked = append(w.asked, line)
	if _, err := w.kube.CoreV1().Pods("shop").List(ctx, metav1.ListOptions{}); err != nil {
		return nil, err
	}
	if r.Verb == "delete" || after.GetLabels()["app"] == "bad" {
		return nil, apierrors.NewForbidden(corev1.Resource("pods"), r.Name, errors.New("no"))
	}
	return after, nil
}

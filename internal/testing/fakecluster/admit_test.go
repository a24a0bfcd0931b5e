// SPDX-License-Identifier: Apache-2.0

package fakecluster_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/fakecluster"
)

// TestAdmit: every write is asked about with what there was and will be, and its answer is stored.
func TestAdmit(t *testing.T) {
	f, ctx := newFixture(t), t.Context()
	var asked []string
	f.AdmitBy(func(ctx context.Context, r fakecluster.Request, before, after *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		line := r.String()
		if before != nil {
			line += " of " + before.GetLabels()["app"]
		}
		if after != nil && after.GetKind() == "Pod" {
			line += " to " + after.GetLabels()["app"]
			after = after.DeepCopy()
			after.SetAnnotations(map[string]string{"seen": "yes"})
		}
		asked = append(asked, line)
		// A client of the server does not wait for the write that is asked about.
		if _, err := f.kube.CoreV1().Pods("shop").List(ctx, metav1.ListOptions{}); err != nil {
			return nil, err
		}
		if r.Verb == "delete" || after.GetLabels()["app"] == "bad" {
			return nil, apierrors.NewForbidden(corev1.Resource("pods"), r.Name, errors.New("no"))
		}
		return after, nil
	})
	pods := f.kube.CoreV1().Pods("shop")
	f.pod()
	if _, err := pods.Patch(ctx, "web", types.MergePatchType, []byte(`{"metadata":{"labels":{"app":"bad"}}}`), metav1.PatchOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("patch: %v", err)
	}
	if err := pods.Delete(ctx, "web", metav1.DeleteOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("deletion: %v", err)
	}
	pod, err := pods.Get(ctx, "web", metav1.GetOptions{})
	if err != nil || pod.Labels["app"] != "web" || pod.Annotations["seen"] != "yes" {
		t.Errorf("error %v, pod %+v", err, pod)
	}
	if err := pods.EvictV1(ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "web"}}); err != nil {
		t.Errorf("eviction: %v", err)
	}
	want := []string{"create pods to web", "patch pods of web to bad", "delete pods of web", "create pods/eviction"}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}

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

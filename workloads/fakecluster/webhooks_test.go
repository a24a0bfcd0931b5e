// SPDX-License-Identifier: Apache-2.0

package fakecluster_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/workloads/fakecluster"
)

// TestAdmitSelects: a webhook is asked about what its rules and selectors select, and what its answer means is its policy. Each row is
// a webhook, and how it answers when a pod is created and, in dry runs, evicted and deleted. Shown is what it was asked, and the error that
// ends this.
func TestAdmitSelects(t *testing.T) {
	type row struct {
		Webhook admissionregistrationv1.ValidatingWebhook
		Answer  *admissionv1.AdmissionResponse
	}
	patches.PlayRows(t, "testdata/webhooks", func() row { return row{} }, func(t *testing.T, _ string, r *row) string {
		cluster, ctx, dry := fakecluster.New(), t.Context(), metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}
		kube := kubernetes.NewForConfigOrDie(cluster.Config("test"))
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop", Labels: map[string]string{"team": "a"}}}
		if _, err := kube.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		var shown strings.Builder
		hook := admission.Handler(func(_ context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
			fmt.Fprintf(&shown, "%s %s/%s of %s, old: %t\n", request.Operation, request.Resource.Resource, request.SubResource,
				request.UserInfo.Username, request.OldObject.Raw != nil)
			return r.Answer
		})
		cluster.Admit(map[string]http.Handler{"/hook": hook}, nil, []admissionregistrationv1.ValidatingWebhook{r.Webhook})
		pods := kube.CoreV1().Pods("shop")
		_, err := pods.Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web", Labels: map[string]string{"app": "web"}}}, metav1.CreateOptions{})
		if err == nil {
			err = pods.EvictV1(ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "web"}, DeleteOptions: &dry})
		}
		if err == nil {
			err = pods.Delete(ctx, "web", dry)
		}
		if err != nil {
			fmt.Fprintln(&shown, apierrors.ReasonForError(err), err)
		}
		return shown.String()
	})
}

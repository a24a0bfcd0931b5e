// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/availability/client"
	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// BenchmarkDecision has a webhook answer, by HTTP and with an API server in memory, about 10,000 pods of 1,000 budgets in one
// namespace. It reports the median and the 99th percentile beside the mean. It measures evictions that are allowed and booked,
// evictions that are denied, and deletions of pods that no budget protects.
func BenchmarkDecision(b *testing.B) {
	const budgets, pods = 1000, 10000
	name := func(i int) string { return fmt.Sprint("pod-", i%pods) }
	for _, bb := range []struct {
		name    string
		status  v1alpha1.PodUnavailableBudgetStatus
		related bool
		request func(pod *corev1.Pod) *admissionv1.AdmissionRequest
		allowed bool
	}{
		{"booked", v1alpha1.PodUnavailableBudgetStatus{ObservedGeneration: 1, TotalReplicas: 10, DesiredAvailable: 1, CurrentAvailable: 1 << 30, UnavailableAllowed: 1 << 30}, true,
			func(pod *corev1.Pod) *admissionv1.AdmissionRequest { return eviction(pod.Name, nil) }, true},
		{"denied", v1alpha1.PodUnavailableBudgetStatus{ObservedGeneration: 1, TotalReplicas: 10, DesiredAvailable: 10, CurrentAvailable: 10}, true,
			func(pod *corev1.Pod) *admissionv1.AdmissionRequest { return eviction(pod.Name, nil) }, false},
		{"unprotected", v1alpha1.PodUnavailableBudgetStatus{ObservedGeneration: 1}, false,
			func(pod *corev1.Pod) *admissionv1.AdmissionRequest { return deletion(pod, metav1.DeleteOptions{}) }, true},
	} {
		b.Run(bb.name, func(b *testing.B) {
			server := fakecluster.New(nil, append(slices.Clone(others), budgetResource)...)
			availability := fixture.Connect(b, server, "test", client.NewForConfig)
			known, cached := cache.NewIndexer(cache.MetaNamespaceKeyFunc, byNamespace), cache.NewIndexer(cache.MetaNamespaceKeyFunc, byNamespace)
			for i := range budgets {
				created, err := availability.PodUnavailableBudgets("default").Create(b.Context(), newBudget(fmt.Sprint("web-", i), "1"), metav1.CreateOptions{})
				if err == nil {
					created.Status = bb.status
					created, err = availability.PodUnavailableBudgets("default").UpdateStatus(b.Context(), created, metav1.UpdateOptions{})
				}
				if err != nil {
					b.Fatal(err)
				}
				_ = known.Add(created)
			}
			var requests [][]byte
			for i := range pods {
				pod := webPod(fmt.Sprint("names=web-", i%budgets))
				if pod.Name = name(i); !bb.related {
					pod.Annotations = nil
				}
				request := bb.request(pod)
				trimmed, _ := TrimPod(pod)
				_ = cached.Add(trimmed)
				body, err := json.Marshal(admissionv1.AdmissionReview{TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"}, Request: request})
				if err != nil {
					b.Fatal(err)
				}
				requests = append(requests, body)
			}
			guard, err := NewGuard(GuardOptions{Availability: availability, Budgets: client.NewPodUnavailableBudgetLister(known)})
			if err != nil {
				b.Fatal(err)
			}
			w := &Webhook{Deletions: true, Guard: guard, Pods: corev1listers.NewPodLister(cached), Kubernetes: fixture.Connect(b, server, "test", kubernetes.NewForConfig)}
			handler, took := w.Handlers()[ValidatePodPath], make([]time.Duration, 0, 1<<16)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				request := httptest.NewRequest(http.MethodPost, ValidatePodPath, bytes.NewReader(requests[i%pods]))
				request.Header.Set("Content-Type", "application/json")
				answer, start := httptest.NewRecorder(), time.Now()
				handler.ServeHTTP(answer, request)
				took = append(took, time.Since(start))
				if bytes.Contains(answer.Body.Bytes(), []byte(`"allowed":true`)) != bb.allowed {
					b.Fatal(answer.Body)
				}
			}
			slices.Sort(took)
			for _, percentile := range []int{50, 99} {
				b.ReportMetric(float64(took[len(took)*percentile/100].Microseconds())/1000, fmt.Sprintf("p%d-ms", percentile))
			}
		})
	}
}

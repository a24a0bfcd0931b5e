// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	availabilityclient "github.com/podwright/podwright/availability/client"
	"github.com/podwright/podwright/availability/podunavailablebudget"
	availabilityv1alpha1 "github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/examples/process/features"
	"github.com/podwright/podwright/internal/fakecluster"
)

// sent notes the requests that pass, without watches.
type sent struct {
	next http.RoundTripper
	lock sync.Mutex
	all  []string
}

func (s *sent) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.URL.Query().Get("watch") == "" {
		s.lock.Lock()
		s.all = append(s.all, request.Method+" "+request.URL.Path)
		s.lock.Unlock()
	}
	return s.next.RoundTrip(request)
}

func (s *sent) since() []string {
	s.lock.Lock()
	defer s.lock.Unlock()
	all := s.all
	s.all = nil
	return slices.Clone(all)
}

// evictionOf is the request that the API server sends about the eviction of a pod.
func evictionOf(pod string) *admissionv1.AdmissionRequest {
	return &admissionv1.AdmissionRequest{
		UID: "uid", Resource: metav1.GroupVersionResource{Version: "v1", Resource: "pods"}, SubResource: "eviction", Operation: admissionv1.Create,
		Namespace: "shop", Name: pod, Object: runtime.RawExtension{Raw: []byte(`{"metadata":{"namespace":"shop","name":"` + pod + `"}}`)},
	}
}

// The answer to an eviction takes one request to the API server at most, or two where the pod does not count, before the
// manager leads too: the caches of every replica have the rest. (PUB-14, PUB-25, PUB-28, PUB-33)
func TestRequestsOfADecision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := fakecluster.New(nil, served...)
		prepareBudget(t, server.Config(""))
		config := server.Config("")
		requests := &sent{next: &watches{next: config.Transport, installed: []string{"podunavailablebudgets"}, all: map[string]int{}}}
		config.Transport = requests
		core, err := kubernetes.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		gates, err := features.Parse("", "")
		if err != nil {
			t.Fatal(err)
		}
		b, err := newBudgets(config, core, gates, "")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- b.run(ctx, core) }()
		synctest.Wait()
		requests.since()
		webhook := podUnavailableBudgets(pflag.NewFlagSet("", pflag.ContinueOnError)).webhook(&admissions{Interface: core, budgets: b, gates: gates}).(*podunavailablebudget.Webhook)
		for _, tt := range []struct {
			pod  string
			code int32
			want []string
		}{
			{"a", 0, []string{"PATCH /apis/policy.kruise.io/v1alpha1/namespaces/shop/podunavailablebudgets/web/status"}},
			{"b", http.StatusTooManyRequests, nil},
			{"c", http.StatusTooManyRequests, []string{"PATCH /api/v1/namespaces/shop/pods/c"}}, // of a CloneSet, which may make room
			{"alone", 0, []string{"GET /api/v1/namespaces/shop/pods/alone"}},                    // its cache may be behind
			{"unready", 0, []string{"GET /api/v1/namespaces/shop/pods/unready", // it may turn ready before it is gone
				"PATCH /apis/policy.kruise.io/v1alpha1/namespaces/shop/podunavailablebudgets/web/status"}},
		} {
			var code int32
			if answer := webhook.ValidatePod(t.Context(), evictionOf(tt.pod)); !answer.Allowed {
				code = answer.Result.Code
			}
			if diff := cmp.Diff(tt.want, requests.since()); diff != "" || code != tt.code {
				t.Errorf("PUB-25: %s: code %d, requests (-want +got):\n%s", tt.pod, code, diff)
			}
			synctest.Wait()
		}
		stored, err := b.pods.GetIndexer().ByIndex("namespace", "shop")
		if err != nil || len(stored) != 5 || slices.ContainsFunc(stored, func(pod any) bool { return len(pod.(*corev1.Pod).Spec.Containers) > 0 }) {
			t.Errorf("the cache of pods: %v, error %v", stored, err)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// prepareBudget creates the budget web, of which one pod may go, three pods of it and two others.
func prepareBudget(t *testing.T, config *rest.Config) {
	t.Helper()
	core := kubernetes.NewForConfigOrDie(config)
	clients, err := availabilityclient.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	b := &availabilityv1alpha1.PodUnavailableBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}, Spec: availabilityv1alpha1.PodUnavailableBudgetSpec{
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}, MaxUnavailable: new(intstr.FromInt32(1))}}
	if b, err = clients.PodUnavailableBudgets("shop").Create(t.Context(), b, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	b.Status = availabilityv1alpha1.PodUnavailableBudgetStatus{ObservedGeneration: 1, TotalReplicas: 3, DesiredAvailable: 2, CurrentAvailable: 3, UnavailableAllowed: 1}
	if _, err := clients.PodUnavailableBudgets("shop").UpdateStatus(t.Context(), b, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b", "c", "unready", "alone"} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx"}}}}
		if name != "alone" {
			pod.Annotations = map[string]string{availabilityv1alpha1.RelatedPubAnnotation: "web"}
		}
		if name == "c" {
			pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps.kruise.io/v1alpha1", Kind: "CloneSet", Name: "web", UID: "web", Controller: new(true)}}
		}
		if _, err := core.CoreV1().Pods("shop").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		status := fmt.Sprintf(`{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"%s"}]}}`, map[bool]string{true: "False", false: "True"}[name == "unready"])
		if _, err := core.CoreV1().Pods("shop").Patch(t.Context(), name, "application/merge-patch+json", []byte(status), metav1.PatchOptions{}, "status"); err != nil {
			t.Fatal(err)
		}
	}
}

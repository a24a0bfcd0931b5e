// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// gone are AdmissionMetrics that name the budgets that have gone.
type gone struct{ all []string }

func (g *gone) Decided(string, string, v1alpha1.PubOperation, bool, time.Duration) {}

func (g *gone) Gone(namespace, budget string) { g.all = append(g.all, namespace+"/"+budget) }

// The answer to an eviction takes one request to the API server at most, or two if the pod does not count. The caches have the
// rest. (PUB-14, PUB-25, PUB-28, PUB-33)
func TestRequestsOfADecision(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.evictable()
		metrics := &gone{}
		w, err := NewCachedWebhook(AdmissionOptions{Kubernetes: c.options.Kubernetes, Availability: c.options.Availability, Deletions: true, Metrics: metrics})
		c.Must(err)
		defer c.Start(w.Run)()
		c.Sleep("6s")
		for _, tt := range []struct {
			pod  string
			code int32
			want []string
		}{
			{"a", 0, []string{"1 patch podunavailablebudgets/status"}},
			{"b", http.StatusTooManyRequests, nil},
			{"c", http.StatusTooManyRequests, []string{"1 patch pods"}},                    // of a CloneSet, which may make room
			{"alone", 0, []string{"1 get pods"}},                                           // its cache may be behind
			{"unready", 0, []string{"1 get pods", "1 patch podunavailablebudgets/status"}}, // it may turn ready before it is gone
		} {
			c.ForgetRequests()
			var code int32
			if answer := w.ValidatePod(t.Context(), eviction(tt.pod, nil)); !answer.Allowed {
				code = answer.Result.Code
			}
			if diff := cmp.Diff(append([]string{}, tt.want...), c.Sent()); diff != "" || code != tt.code {
				t.Errorf("PUB-25: %s: code %d, requests (-want +got):\n%s", tt.pod, code, diff)
			}
			c.Sleep("1s")
		}
		stored, err := w.Pods.List(labels.Everything())
		if err != nil || len(stored) != 5 || slices.ContainsFunc(stored, func(pod *corev1.Pod) bool { return len(pod.Spec.Containers) > 0 }) {
			t.Errorf("the cache of pods: %v, error %v", stored, err)
		}
		c.Must(c.budgets.PodUnavailableBudgets("default").Delete(t.Context(), "web", metav1.DeleteOptions{}))
		c.Sleep("1s")
		if diff := cmp.Diff([]string{"default/web"}, metrics.all); diff != "" {
			t.Errorf("budgets that are gone (-want +got):\n%s", diff)
		}
	})
}

// evictable creates the budget web, of which one pod may go, four pods of it and another one.
func (c *cluster) evictable() {
	c.T.Helper()
	b := newBudget("web", "1", bySelector)
	c.createBudget(b)
	b = c.budget("web")
	b.Status = v1alpha1.PodUnavailableBudgetStatus{ObservedGeneration: b.Generation, TotalReplicas: 3, DesiredAvailable: 2, CurrentAvailable: 3, UnavailableAllowed: 1}
	_, err := c.budgets.PodUnavailableBudgets("default").UpdateStatus(c.T.Context(), b, metav1.UpdateOptions{})
	c.Must(err)
	for _, name := range []string{"a", "b", "c", "unready", "alone"} {
		c.pod(name, noOwner, func(pod *corev1.Pod) {
			if name != "alone" {
				pod.Annotations = map[string]string{v1alpha1.RelatedPubAnnotation: "web"}
			} else {
				pod.Labels = nil
			}
			if name == "c" {
				pod.OwnerReferences = []metav1.OwnerReference{ownerOf("apps.kruise.io/v1alpha1", "CloneSet", "web", "1")}
			}
		})
	}
	c.PatchPod("unready", unreadyPatch, "status")
}

// The webhook watches pods once there is a budget, if it judges deletions and NoPods is not set. Otherwise, and before its
// caches run, it asks the API server for what it needs. (PUB-33)
func TestCachesOfAWebhook(t *testing.T) {
	for _, tt := range []struct {
		options AdmissionOptions
		want    string
	}{
		{AdmissionOptions{Deletions: true}, "watch pods, watch podunavailablebudgets"},
		{AdmissionOptions{Deletions: true, NoPods: true}, "watch podunavailablebudgets"},
		{AdmissionOptions{Updates: true}, "watch podunavailablebudgets"},
	} {
		inCluster(t, func(t *testing.T, c *cluster) {
			tt.options.Kubernetes, tt.options.Availability = c.options.Kubernetes, c.options.Availability
			w, err := NewCachedWebhook(tt.options)
			c.Must(err)
			watched := func() string {
				var all []string
				for request := range c.Server.Count(fixture.ControllerUser) {
					if strings.HasPrefix(request, "watch ") {
						all = append(all, request)
					}
				}
				slices.Sort(all)
				return strings.Join(all, ", ")
			}
			c.ForgetRequests()
			if answer := w.ValidatePod(t.Context(), eviction("absent", nil)); !answer.Allowed {
				t.Errorf("%+v: before it runs: %+v", tt.options, answer.Result)
			}
			stop := c.Start(w.Run)
			c.Sleep("1s")
			if got := watched(); got != "watch podunavailablebudgets" {
				t.Errorf("PUB-33: without budgets: %s", got)
			}
			c.createBudget(newBudget("web", "1", bySelector))
			c.Sleep("6s")
			if got := watched(); got != tt.want {
				t.Errorf("PUB-33: %+v: %s, want %s", tt.options, got, tt.want)
			}
			stop()
			if (w.Pods != nil) != strings.Contains(tt.want, "watch pods") {
				t.Errorf("PUB-33: %+v: cache of pods %v", tt.options, w.Pods)
			}
		})
	}
	if _, err := NewCachedWebhook(AdmissionOptions{}); err == nil || !strings.Contains(err.Error(), "Options.Availability is nil") || !strings.Contains(err.Error(), "Options.Kubernetes is nil") {
		t.Errorf("without clients: error %v", err)
	}
}

// A program that caches pods anyway has no second cache of them. If that of the webhook came first, it is empty later. What is not
// cached is asked for. (PUB-33)
func TestSharedPods(t *testing.T) {
	for name, before := range map[string]bool{"shared before the webhook keeps pods": true, "shared afterwards": false} {
		t.Run(name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				c.evictable()
				w, err := NewCachedWebhook(AdmissionOptions{Kubernetes: c.options.Kubernetes, Availability: c.options.Availability, Deletions: true})
				c.Must(err)
				shared := caches.NewInformers(c.options.Kubernetes, "").Pods()
				expect := func(step string, asks ...string) {
					t.Helper()
					c.Sleep("6s")
					c.ForgetRequests()
					w.ValidatePod(t.Context(), eviction("b", nil))
					if diff := cmp.Diff(append(asks, "1 patch podunavailablebudgets/status"), c.Sent()); diff != "" || !w.HasSynced() {
						t.Errorf("PUB-33: %s: synced %t, requests (-want +got):\n%s", step, w.HasSynced(), diff)
					}
				}
				if before {
					w.SharePods(shared)
				}
				defer c.Start(w.Run)()
				if before {
					expect("before the informer runs", "1 get pods")
				} else {
					expect("by its own cache")
					w.SharePods(shared)
				}
				stop := c.Start(func(ctx context.Context) error {
					shared.RunWithContext(ctx)
					return nil
				})
				expect("by what is shared")
				if own := w.kept.ListKeys(); len(own) > 0 {
					t.Errorf("PUB-33: it keeps %v as well", own)
				}
				stop()
				expect("when the informer has stopped", "1 get pods")
			})
		})
	}
}

// A webhook is asked about the requests in namespaces with budgets, and about none while there is no budget, or none can be. When
// that changes, it says so. (PUB-36)
func TestMatchExpressionOfNow(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		w, err := NewCachedWebhook(AdmissionOptions{Kubernetes: c.options.Kubernetes, Availability: c.options.Availability, Deletions: true})
		c.Must(err)
		changes := 0
		c.Must(w.OnMatchChange(func() { changes++ }))
		over, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := w.MatchExpression(over); err == nil || !strings.Contains(err.Error(), "not known yet") {
			t.Errorf("PUB-36: before anything is known: error %v", err)
		}
		expect := func(step, want string, changed int) {
			t.Helper()
			got, err := w.MatchExpression(t.Context())
			if err != nil || got != want || changes != changed {
				t.Errorf("PUB-36: %s: %d changes, want %d, error %v, asked about %s, want %s", step, changes, changed, err, got, want)
			}
			changes = 0
		}
		w.Missing()
		expect("no CRD", "false", 0)
		defer c.Start(w.Run)()
		c.Sleep("1s")
		expect("no budget", "false", 0)
		c.createBudget(newBudget("web", "1", bySelector))
		c.Sleep("1s")
		some := "request.operation != 'UPDATE' && (request.namespace in ['default'] && (" + judged + "))"
		expect("a budget", some, 1)
		b := c.budget("web")
		b.Spec.MaxUnavailable = new(intstr.FromInt32(2))
		_, err = c.budgets.PodUnavailableBudgets("default").Update(t.Context(), b, metav1.UpdateOptions{})
		c.Must(err)
		c.Sleep("1s")
		expect("its spec", some, 0)
		w.Updates = true
		expect("updates too", "request.namespace in ['default'] && ("+judged+")", 0)
		c.Must(c.budgets.PodUnavailableBudgets("default").Delete(t.Context(), "web", metav1.DeleteOptions{}))
		c.Sleep("1s")
		expect("it is gone", "false", 1)
	})
	var many []*v1alpha1.PodUnavailableBudget
	for i := range mostNamespaces + 1 {
		many = append(many, &v1alpha1.PodUnavailableBudget{ObjectMeta: metav1.ObjectMeta{Namespace: fmt.Sprint("team-", i)}})
	}
	if got := MatchExpression(many); got != judged {
		t.Errorf("PUB-36: %d namespaces: asked about %.100s", len(many), got)
	}
}

// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/availability/client"
	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

var errConflict = apierrors.NewConflict(v1alpha1.Resource("podunavailablebudgets"), "web", errors.New("it has changed"))

// guard returns a Guard whose cache is filled, and follows.
func (c *cluster) guard() *Guard {
	c.T.Helper()
	budgets := connect(c.Cluster, fixture.ControllerUser, client.NewForConfig)
	informer := client.NewPodUnavailableBudgetInformer(budgets, "", 0, byNamespace)
	ctx, cancel := context.WithCancel(c.T.Context())
	done := make(chan struct{})
	go func() { defer close(done); informer.RunWithContext(ctx) }()
	c.T.Cleanup(func() { cancel(); <-done })
	synctest.Wait()
	g, err := NewGuard(GuardOptions{Availability: budgets, Budgets: client.NewPodUnavailableBudgetLister(informer.GetIndexer())})
	c.Must(err)
	return g
}

// protected is a cluster with n ready pods a, b and so on, of which the budget lets one go.
func protected(t *testing.T, n int, story func(*testing.T, *cluster)) {
	t.Helper()
	inCluster(t, func(t *testing.T, c *cluster) {
		c.cloneSet(n)
		for i := range n {
			c.webPods(string(rune('a' + i)))
		}
		c.createBudget(newBudget("web", "1"))
		_, stop := c.start()
		defer stop()
		c.Sleep("1s")
		story(t, c)
	})
}

// decisions notes the answers that are measured.
type decisions []string

func (a *decisions) Decided(namespace, budget string, operation v1alpha1.PubOperation, allowed bool, took time.Duration) {
	*a = append(*a, fmt.Sprintf("%s/%s %s %t after %s", namespace, budget, operation, allowed, took))
}

// Measured are the answers about pods of budgets that are there: users who make pods can name others without end.
func TestMeasuredDecisions(t *testing.T) {
	protected(t, 3, func(t *testing.T, c *cluster) {
		g, got := c.guard(), &decisions{}
		g.options.Metrics = got
		for _, name := range []string{"web", "gone", ""} {
			for _, pod := range []string{"a", "b"} {
				c.PatchPod(pod, `{"metadata":{"annotations":{"kruise.io/related-pub":"`+name+`"}}}`)
				if _, err := g.Allow(t.Context(), c.livePod(pod), v1alpha1.PubDeleteOperation); err != nil {
					t.Error(err)
				}
			}
		}
		if diff := cmp.Diff(decisions{"default/web DELETE true after 0s", "default/web DELETE false after 0s"}, *got); diff != "" {
			t.Errorf("(-want +got) %s", diff)
		}
	})
}

// A caller that has an old state of a budget does not book on it. (PUB-25)
func TestStaleGuard(t *testing.T) {
	protected(t, 3, func(t *testing.T, c *cluster) {
		stale, err := NewGuard(GuardOptions{Availability: c.options.Availability, Budgets: c.snapshotOfBudgets()})
		c.Must(err)
		if d, err := c.guard().Allow(t.Context(), c.livePod("a"), v1alpha1.PubDeleteOperation); !d.Allowed || err != nil {
			t.Fatalf("%+v, %v", d, err)
		}
		c.ForgetRequests()
		if d, err := stale.Allow(t.Context(), c.livePod("b"), v1alpha1.PubDeleteOperation); d.Allowed || err != nil {
			t.Errorf("%+v, %v", d, err)
		}
		if diff := cmp.Diff([]string{"1 get podunavailablebudgets", "1 patch podunavailablebudgets/status"}, c.Sent()); diff != "" {
			t.Errorf("(-want +got) %s", diff)
		}
	})
}

// What a Guard remembers of budgets that are gone, and are not asked about again, has an end.
func TestGuardForgets(t *testing.T) {
	protected(t, 3, func(t *testing.T, c *cluster) {
		g := c.guard()
		book := func(pod string) {
			t.Helper()
			if d, err := g.Allow(t.Context(), c.livePod(pod), v1alpha1.PubDeleteOperation); !d.Allowed || err != nil {
				t.Fatalf("%+v, %v", d, err)
			}
		}
		book("a")
		c.Must(c.budgets.PodUnavailableBudgets("default").Delete(t.Context(), "web", metav1.DeleteOptions{}))
		c.Sleep("1s")
		if len(g.last.byKey) != 1 {
			t.Fatalf("remembers %v: the test has nothing to show", g.last.byKey)
		}
		c.createBudget(newBudget("other", "1"))
		c.Sleep(latestKept.String())
		for _, pod := range []string{"a", "b"} {
			c.PatchPod(pod, `{"metadata":{"annotations":{"kruise.io/related-pub":"other"}}}`)
		}
		c.Sleep("1s")
		book("b")
		if g.last.get(types.NamespacedName{Namespace: "default", Name: "web"}) != nil || len(g.last.byKey) != 1 {
			t.Errorf("remembers %v", g.last.byKey)
		}
	})
}

// A booking that took long is made anew, so that it is not forgotten before the operation happens. If it takes long
// every time, nothing is allowed. (PUB-25)
func TestSlowBooking(t *testing.T) {
	protected(t, 3, func(t *testing.T, c *cluster) {
		slow := 1
		c.FailBefore(func(r fakecluster.Request) error {
			if r.Verb == "patch" && r.Resource == "podunavailablebudgets" && slow > 0 {
				slow--
				time.Sleep(9 * time.Second)
			}
			return nil
		})
		g := c.guard()
		allowed, err := g.AllowUpdate(t.Context(), c.livePod("a"))
		if at := c.budget("web").Status.UnavailablePods["a"]; !allowed || err != nil || time.Since(at.Time) > 2*time.Second {
			t.Errorf("allowed %t, error %v, booked at %v, it is %v", allowed, err, at, time.Now())
		}
		c.Sleep("1m")
		slow = 100
		if allowed, err := g.AllowUpdate(t.Context(), c.livePod("b")); allowed || err == nil {
			t.Errorf("allowed %t, error %v, and each write took 9 s", allowed, err)
		}
		slow = 0
	})
}

// snapshotOfBudgets is a cache that no longer follows.
func (c *cluster) snapshotOfBudgets() client.PodUnavailableBudgetLister {
	c.T.Helper()
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, byNamespace)
	list, err := c.budgets.PodUnavailableBudgets("default").List(c.T.Context(), metav1.ListOptions{})
	c.Must(err)
	for i := range list.Items {
		c.Must(indexer.Add(&list.Items[i]))
	}
	return client.NewPodUnavailableBudgetLister(indexer)
}

// No API server answers, or all other writers are faster: it is not allowed, and ends. (PUB-25)
func TestGuardThatCannotBook(t *testing.T) {
	for _, tt := range []struct {
		name   string
		fail   error
		writes int
	}{
		{"conflicts without end", errConflict, 4},
		{"no answer", fixture.ErrLost, 1},
		{"an error", fixture.ErrInternal, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			protected(t, 3, func(t *testing.T, c *cluster) {
				g := c.guard()
				writes := 0
				c.FailBefore(func(r fakecluster.Request) error {
					if r.User == fixture.ControllerUser && r.String() == "patch podunavailablebudgets/status" {
						writes++
						return tt.fail
					}
					return nil
				})
				start := time.Now()
				d, err := g.Allow(t.Context(), c.livePod("a"), v1alpha1.PubDeleteOperation)
				if d.Allowed || err == nil || writes != tt.writes || time.Since(start) > 2*time.Second {
					t.Errorf("%+v, error %v, %d writes, %v", d, err, writes, time.Since(start))
				}
				c.FailBefore(nil)
				if d, err := g.Allow(t.Context(), c.livePod("a"), v1alpha1.PubDeleteOperation); !d.Allowed || err != nil {
					t.Errorf("afterwards: %+v, error %v", d, err)
				}
			})
		})
	}
}

// Who waits for the budget of a slow one ends with its context.
func TestGuardThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		locks, key := keyedLocks{}, types.NamespacedName{Name: "web"}
		unlock, err := locks.lock(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := locks.lock(ctx, key); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		other, err := locks.lock(t.Context(), types.NamespacedName{Name: "other"})
		if err != nil {
			t.Fatal(err)
		}
		other()
		go func() { time.Sleep(time.Second); unlock() }()
		again, err := locks.lock(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		again()
		if len(locks.held) > 0 {
			t.Errorf("%d locks are left", len(locks.held))
		}
	})
}

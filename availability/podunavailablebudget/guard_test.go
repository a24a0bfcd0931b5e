// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/availability/client"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// guard returns a Guard whose cache is filled, and follows.
func (c *cluster) guard() *Guard {
	c.T.Helper()
	budgets := connect(c.Cluster, fixture.ControllerUser, client.NewForConfig)
	informer := client.NewPodUnavailableBudgetInformer(budgets, "", 0, byNamespace)
	c.T.Cleanup(c.Start(fixture.Informing(informer)))
	g, err := NewGuard(GuardOptions{Availability: budgets, Budgets: client.NewPodUnavailableBudgetLister(informer.GetIndexer())})
	c.Must(err)
	return g
}

// What a Guard remembers of budgets that are gone, and are not asked about again, has an end.
func TestGuardForgets(t *testing.T) {
	var last latest[int]
	web, other := types.NamespacedName{Name: "web"}, types.NamespacedName{Name: "other"}
	last.set(web, 1, at)
	last.set(other, 2, at.Add(latestKept))
	if last.get(web) != 1 || last.get(other) != 2 {
		t.Errorf("remembers %v", last.byKey)
	}
	last.set(other, 3, at.Add(2*latestKept))
	if last.get(web) != 0 || last.get(other) != 3 || len(last.byKey) != 1 {
		t.Errorf("remembers %v", last.byKey)
	}
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

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/availability/podunavailablebudget"
	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/examples/tests/testbed/drains"
	"github.com/podwright/podwright/examples/tests/testbed/rig"
	"github.com/podwright/podwright/examples/tests/testbed/serve"
)

// times are how long the webhook has taken. The zero value has none.
type times struct {
	mu   sync.Mutex
	took []time.Duration
}

// wrap measures the requests about pods.
func (t *times) wrap(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begin := time.Now()
		handler.ServeHTTP(w, r)
		if r.URL.Path == podunavailablebudget.ValidatePodPath {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.took = append(t.took, time.Since(begin))
		}
	})
}

// take returns the times since it was called last.
func (t *times) take() (took []time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	took, t.took = t.took, nil
	return took
}

// measureWay measures dry runs and evictions.
func (r *bench) measureWay(ctx context.Context, w way) (of []result, err error) {
	if err := r.fill(ctx); err != nil {
		return nil, err
	}
	if w != noWebhook {
		stop, err := r.protect(ctx, w)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, stop()) }()
	}
	for _, dryRun := range []bool{true, false} {
		line, err := r.measure(ctx, w, dryRun)
		if err != nil {
			return nil, err
		}
		of = append(of, line)
	}
	return of, nil
}

// protect creates the budget and runs what it takes, until stop is called.
func (r *bench) protect(ctx context.Context, w way) (stop func() error, err error) {
	running, end := context.WithCancel(ctx)
	group, running := errgroup.WithContext(running)
	budgets := &serve.Budgets{Wrap: r.times.wrap, Options: podunavailablebudget.Options{Kubernetes: r.Core, Availability: r.budgets, ControllerOptions: podwright.ControllerOptions{Namespace: namespace}}}
	if r.cache {
		factory := informers.NewSharedInformerFactoryWithOptions(r.Core, 0, informers.WithNamespace(namespace))
		pods := factory.Core().V1().Pods()
		budgets.Pods, budgets.Options.Pods = pods.Lister(), pods.Informer()
		group.Go(func() error { pods.Informer().RunWithContext(running); return nil })
	}
	group.Go(func() error { return budgets.Run(running) })
	stop = func() error {
		failure := r.budgets.PodUnavailableBudgets(namespace).Delete(ctx, "web", metav1.DeleteOptions{})
		end()
		return errors.Join(failure, group.Wait())
	}
	err = rig.Until(ctx, "the webhook to ask the budget", func(ctx context.Context) error {
		if _, err := r.budgets.PodUnavailableBudgets(namespace).Create(ctx, r.newBudget(w), metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
		return r.protected(ctx, w)
	})
	if err != nil {
		return nil, errors.Join(err, stop())
	}
	return stop, nil
}

// protected returns nil once the budget has all pods, all of which name it, and the webhook is asked.
func (r *bench) protected(ctx context.Context, w way) error {
	b, err := r.budgets.PodUnavailableBudgets(namespace).Get(ctx, "web", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if b.Status.CurrentAvailable != int32(r.pods+1) || (b.Status.UnavailableAllowed == 0) != (w == letsNoneGo) {
		return fmt.Errorf("the status is %+v", b.Status)
	}
	pods, err := r.Core.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range pods.Items {
		if pods.Items[i].Annotations[v1alpha1.RelatedPubAnnotation] != b.Name {
			return fmt.Errorf("pod %s does not name the budget", pods.Items[i].Name)
		}
	}
	if _, err := r.evict(ctx, 0, true); err != nil {
		return err
	}
	if len(r.times.take()) == 0 {
		return errors.New("the webhook is not asked")
	}
	return nil
}

// evict evicts a pod, once.
func (r *bench) evict(ctx context.Context, i int, dryRun bool) (denied bool, err error) {
	o := &metav1.DeleteOptions{}
	if dryRun {
		o.DryRun = []string{metav1.DryRunAll}
	}
	err = drains.Evict(ctx, r.Core, namespace, pod(i).Name, o)
	if apierrors.IsTooManyRequests(err) {
		return true, nil
	}
	return false, err
}

// measure evicts all pods but one, each once.
func (r *bench) measure(ctx context.Context, w way, dryRun bool) (result, error) {
	of := result{way: w, dryRun: dryRun, took: make([]time.Duration, r.pods)}
	r.times.take()
	denied := make([]bool, r.pods)
	evicting, ctx := errgroup.WithContext(ctx)
	evicting.SetLimit(r.parallel)
	for i := range r.pods {
		evicting.Go(func() (err error) {
			begin := time.Now()
			denied[i], err = r.evict(ctx, i, dryRun)
			of.took[i] = time.Since(begin)
			return err
		})
	}
	if err := evicting.Wait(); err != nil {
		return of, err
	}
	for _, d := range denied {
		if d {
			of.denied++
		}
	}
	if of.webhook = r.times.take(); w != noWebhook && len(of.webhook) != r.pods {
		return of, fmt.Errorf("the webhook was asked %d times about %d evictions", len(of.webhook), r.pods)
	}
	if want := map[way]int{letsNoneGo: r.pods}[w]; of.denied != want {
		return of, fmt.Errorf("%d of %d evictions were denied, want %d", of.denied, r.pods, want)
	}
	slices.Sort(of.took)
	slices.Sort(of.webhook)
	return of, nil
}

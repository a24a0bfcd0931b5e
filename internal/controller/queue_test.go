// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	fcache "k8s.io/client-go/tools/cache/testing"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/caches"
)

// recorder notes the times of reconciles since it was made, and their errors.
type recorder struct {
	lock  sync.Mutex
	start time.Time
	times []time.Duration
	errs  []error
}

func (r *recorder) Reconciled(_ string, _ time.Duration, err error) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.times = append(r.times, time.Since(r.start).Round(time.Millisecond))
	if err != nil {
		r.errs = append(r.errs, err)
	}
}

// nothing is what a loop waits for that reads nothing.
func nothing() *Filling { return &Filling{name: "test", timeout: CacheSyncTimeout} }

// run runs a loop over one key for a time and returns what was recorded.
func run(t *testing.T, length time.Duration, filling *Filling, config loopConfig) *recorder {
	t.Helper()
	r := &recorder{start: time.Now()}
	config.Name, config.Metrics = "test", r
	loop := newLoop(config)
	loop.add(web)
	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	if err := runLoops(ctx, filling, loop); err != nil {
		t.Error(err)
	}
	return r
}

type reconcile = func(context.Context, types.NamespacedName) (time.Duration, error)

// counted is a reconcile that is told how many there were with it.
func counted(reconcile func(n int) (time.Duration, error)) reconcile {
	n := 0
	return func(context.Context, types.NamespacedName) (time.Duration, error) {
		n++
		return reconcile(n)
	}
}

func always(after time.Duration, err error) reconcile {
	return func(context.Context, types.NamespacedName) (time.Duration, error) { return after, err }
}

func TestLoop(t *testing.T) {
	ms := time.Millisecond
	failure := errors.New("failure")
	waiting := func() reconcile {
		return counted(func(n int) (time.Duration, error) {
			switch n {
			case 3:
				return ms, nil
			case 5:
				return 0, nil
			}
			return 0, failure
		})
	}
	for _, test := range []struct {
		name   string
		length time.Duration
		config loopConfig
		want   []time.Duration
		errs   int
	}{
		{"one reconcile per key", time.Hour, loopConfig{reconcile: always(0, nil)}, []time.Duration{0}, 0},
		{"another reconcile after the time asked for", 25 * time.Second, loopConfig{reconcile: always(10*time.Second, nil)},
			[]time.Duration{0, 10 * time.Second, 20 * time.Second}, 0},
		{"failures back off", 100 * ms, loopConfig{reconcile: always(0, failure)}, []time.Duration{0, 5 * ms, 15 * ms, 35 * ms, 75 * ms}, 5},
		{"failures back off no longer, on time, than the time asked for", 200 * ms, loopConfig{retryWhenDue: true, reconcile: always(50*ms, failure)},
			[]time.Duration{0, 5 * ms, 15 * ms, 35 * ms, 75 * ms, 125 * ms, 175 * ms}, 7},
		{"failures back off as told to", 10 * time.Second, loopConfig{firstRetry: time.Second, lastRetry: 3 * time.Second, reconcile: always(0, failure)},
			[]time.Duration{0, time.Second, 3 * time.Second, 6 * time.Second, 9 * time.Second}, 5},
		{"and never for more than five minutes", 15 * time.Minute, loopConfig{firstRetry: 4 * time.Minute, reconcile: always(0, failure)},
			[]time.Duration{0, 4 * time.Minute, 9 * time.Minute, 14 * time.Minute}, 4},
		{"a success ends the back-off", 50 * ms, loopConfig{retryWhenDue: true, reconcile: counted(func(n int) (time.Duration, error) {
			if n == 3 {
				return 10 * ms, nil
			}
			return 0, failure
		})}, []time.Duration{0, 5 * ms, 15 * ms, 25 * ms, 30 * ms, 40 * ms}, 5},
		{"a panic is a failure", 10 * ms, loopConfig{reconcile: counted(func(int) (time.Duration, error) { panic("broken") })},
			[]time.Duration{0, 5 * ms}, 2},
		// A reconcile that only waits for a cache is no success.
		{"CT-1: after a wait the back-off goes on", time.Second, loopConfig{waits: func(types.NamespacedName) bool { return true }, reconcile: waiting()},
			[]time.Duration{0, 5 * ms, 15 * ms, 16 * ms, 36 * ms}, 3},
		{"CT-1: after no wait it begins anew", time.Second, loopConfig{waits: func(types.NamespacedName) bool { return false }, reconcile: waiting()},
			[]time.Duration{0, 5 * ms, 15 * ms, 16 * ms, 21 * ms}, 3},
		{"no reconcile waits", time.Second, loopConfig{reconcile: waiting()}, []time.Duration{0, 5 * ms, 15 * ms, 16 * ms, 21 * ms}, 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := run(t, test.length, nothing(), test.config)
				if diff := cmp.Diff(test.want, r.times); diff != "" || len(r.errs) != test.errs {
					t.Errorf("%d errors, want %d; times of the reconciles (-want +got):\n%s", len(r.errs), test.errs, diff)
				}
			})
		})
	}
}

// Run fills the caches before the first reconcile, and waits for the one under way.
func TestLoopBeginsAndEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := fcache.NewFakeControllerSource()
		defer source.Shutdown()
		source.Add(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-0"}})
		informer := cache.NewSharedIndexInformer(source, &corev1.Pod{}, 0, cache.Indexers{})
		shown, ended, filling := 0, false, nothing()
		filling.informers, filling.waits = []cache.SharedIndexInformer{informer}, []*cacheWait{{resource: "pods", synced: informer.HasSynced}}
		run(t, time.Minute, filling, loopConfig{reconcile: func(ctx context.Context, _ types.NamespacedName) (time.Duration, error) {
			shown = len(informer.GetStore().List())
			<-ctx.Done()
			time.Sleep(time.Minute) // it takes a while to end
			ended = true
			return 0, ctx.Err()
		}})
		if shown != 1 || !ended || !informer.IsStopped() {
			t.Errorf("the reconcile saw %d pods, want 1, and has ended: %t; the informer has stopped: %t", shown, ended, informer.IsStopped())
		}
		empty := nothing()
		empty.waits = []*cacheWait{{resource: "pods", synced: func() bool { return false }}}
		if r := run(t, time.Second, empty, loopConfig{reconcile: always(0, nil)}); len(r.times) > 0 {
			t.Error("a reconcile before the caches are filled")
		}
	})
}

func TestLoopRunsOnce(t *testing.T) { // CT-4
	synctest.Test(t, func(t *testing.T) {
		filling := nothing()
		run(t, time.Second, filling, loopConfig{reconcile: always(0, nil)})
		if err := runLoops(t.Context(), filling, newLoop(loopConfig{Name: "test"})); err == nil {
			t.Error("a second Run returns no error")
		}
	})
}

// TestRefusedForEver counts the tries of a day in which each one writes something that a late cache shows later, and fails. (CT-1, CT-3)
func TestRefusedForEver(t *testing.T) {
	for _, lag := range []time.Duration{0, 8 * time.Millisecond, 60 * time.Millisecond, time.Second} {
		for _, own := range []bool{true, false} {
			t.Run(fmt.Sprintf("CT-3: lag %s, a queue of our own: %v", lag, own), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
					defer cancel()
					var tries []time.Duration
					var written time.Time
					start, writer := time.Now(), &apply.Writer{}
					r := newReconciler(Definition[snapshot, plan]{
						ControllerOptions: podwright.ControllerOptions{Clock: clock.RealClock{}},
						reads:             []Read{{Resource: caches.Pods}}, Writer: writer,
						synced: func(podwright.Resource) string {
							if time.Since(written) < lag {
								return "1"
							}
							return fmt.Sprint(1 + len(tries))
						},
						Observe: func(context.Context, types.NamespacedName) (*snapshot, error) { return &snapshot{}, nil },
						Plan:    func(*snapshot) *plan { return new(plan) },
						Apply: func(context.Context, *snapshot, *plan) (time.Duration, error) {
							tries, written = append(tries, time.Since(start)), time.Now()
							writer.Own.Wrote(web, caches.Pods, fmt.Sprint(1+len(tries)))
							if len(tries) == 1000 {
								cancel() // more show nothing new
							}
							return 0, errors.New("refused")
						},
					})
					config := loopConfig{Name: "test", reconcile: r.reconcile, waits: r.waits.Get}
					if !own {
						config.reconcile, config.waits = r.Reconcile, nil
					}
					loop := newLoop(config)
					loop.add(web)
					if err := runLoops(ctx, nothing(), loop); err != nil {
						t.Error(err)
					}
					hours := map[int]int{}
					for _, at := range tries {
						hours[int(at/time.Hour)]++
					}
					for hour := range 24 {
						if n := hours[hour]; n > 12 && !(hour == 0 && n <= 30) || n < 10 {
							t.Errorf("%d tries in hour %d", n, hour)
						}
					}
				})
			})
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"slices"
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

	"github.com/podwright/podwright"
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

// run runs a loop over one key for a time and returns what was recorded.
func run(t *testing.T, length time.Duration, reconcile func(n int) (time.Duration, error)) *recorder {
	t.Helper()
	r, reconciles := &recorder{start: time.Now()}, 0
	loop := newLoop(loopConfig{Name: "test", ControllerOptions: podwright.ControllerOptions{Metrics: r}, retryWhenDue: true, reconcile: func(context.Context, types.NamespacedName) (time.Duration, error) {
		reconciles++
		return reconcile(reconciles)
	}})
	loop.add(web)
	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	if err := runLoops(ctx, &Filling{name: "test", timeout: CacheSyncTimeout}, loop); err != nil {
		t.Error(err)
	}
	return r
}

func TestLoop(t *testing.T) {
	ms := time.Millisecond
	failure := errors.New("failure")
	for _, test := range []struct {
		name      string
		length    time.Duration
		reconcile func(n int) (time.Duration, error)
		want      []time.Duration
		errs      int
	}{
		{"one reconcile per key", time.Hour, func(int) (time.Duration, error) { return 0, nil }, []time.Duration{0}, 0},
		{"another reconcile after the time asked for", 25 * time.Second, func(int) (time.Duration, error) { return 10 * time.Second, nil },
			[]time.Duration{0, 10 * time.Second, 20 * time.Second}, 0},
		{"failures back off", 100 * ms, func(int) (time.Duration, error) { return 0, failure },
			[]time.Duration{0, 5 * ms, 15 * ms, 35 * ms, 75 * ms}, 5},
		{"failures back off no longer, on time, than the time asked for", 200 * ms, func(int) (time.Duration, error) { return 50 * ms, failure },
			[]time.Duration{0, 5 * ms, 15 * ms, 35 * ms, 75 * ms, 125 * ms, 175 * ms}, 7},
		{"a success ends the back-off", 50 * ms, func(n int) (time.Duration, error) {
			if n == 3 {
				return 10 * ms, nil
			}
			return 0, failure
		}, []time.Duration{0, 5 * ms, 15 * ms, 25 * ms, 30 * ms, 40 * ms}, 5},
		{"a panic is a failure", 10 * ms, func(int) (time.Duration, error) { panic("broken") }, []time.Duration{0, 5 * ms}, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := run(t, test.length, test.reconcile)
				if diff := cmp.Diff(test.want, r.times); diff != "" {
					t.Errorf("times of the reconciles (-want +got):\n%s", diff)
				}
				if len(r.errs) != test.errs {
					t.Errorf("errors %v", r.errs)
				}
			})
		})
	}
}

// A reconcile that only waits for a cache is no success: the back-off of the failures before it goes on. (CT-1)
func TestLoopGoesOnToBackOffAfterAWait(t *testing.T) {
	for _, test := range []struct {
		name  string
		waits func(types.NamespacedName) bool
		want  []time.Duration
	}{
		{"it waits", func(types.NamespacedName) bool { return true }, []time.Duration{0, 5, 15, 16, 36}},
		{"it does not", func(types.NamespacedName) bool { return false }, []time.Duration{0, 5, 15, 16, 21}},
		{"no reconcile waits", nil, []time.Duration{0, 5, 15, 16, 21}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &recorder{start: time.Now()}
				loop := newLoop(loopConfig{Name: "test", ControllerOptions: podwright.ControllerOptions{Metrics: r}, waits: test.waits, reconcile: func(context.Context, types.NamespacedName) (time.Duration, error) {
					switch len(r.times) {
					case 2:
						return time.Millisecond, nil
					case 4:
						return 0, nil
					}
					return 0, errors.New("failure")
				}})
				loop.add(web)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if err := runLoops(ctx, &Filling{name: "test", timeout: CacheSyncTimeout}, loop); err != nil {
					t.Error(err)
				}
				for i := range test.want {
					test.want[i] *= time.Millisecond
				}
				if diff := cmp.Diff(test.want, r.times); diff != "" {
					t.Errorf("reconciles (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestLoopBacksOffForMinutesAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := run(t, 24*time.Hour, func(int) (time.Duration, error) { return 0, errors.New("no") })
		last := slices.Max(r.times) - r.times[len(r.times)-2]
		if last != 5*time.Minute || len(r.times) > 24*12+20 {
			t.Errorf("%d reconciles in a day, the last %s after the one before", len(r.times), last)
		}
	})
}

func TestLoopBacksOffAsToldTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{start: time.Now()}
		loop := newLoop(loopConfig{Name: "test", ControllerOptions: podwright.ControllerOptions{Metrics: r}, firstRetry: time.Second, lastRetry: 3 * time.Second,
			reconcile: func(context.Context, types.NamespacedName) (time.Duration, error) { return 0, errors.New("no") }})
		loop.add(web)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if err := runLoops(ctx, &Filling{name: "test", timeout: CacheSyncTimeout}, loop); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff([]time.Duration{0, time.Second, 3 * time.Second, 6 * time.Second, 9 * time.Second}, r.times); diff != "" {
			t.Errorf("times of the reconciles (-want +got):\n%s", diff)
		}
	})
}

// Run waits for the reconcile under way, and for the caches before the first one.
func TestLoopEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := false
		loop := newLoop(loopConfig{Name: "test", reconcile: func(ctx context.Context, _ types.NamespacedName) (time.Duration, error) {
			<-ctx.Done()
			time.Sleep(time.Minute) // it takes a while to end
			ended = true
			return 0, ctx.Err()
		}})
		loop.add(web)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := runLoops(ctx, &Filling{name: "test", timeout: CacheSyncTimeout}, loop); err != nil || !ended {
			t.Errorf("Run returned %v, the reconcile has ended: %v", err, ended)
		}

		loop = newLoop(loopConfig{Name: "test", reconcile: func(context.Context, types.NamespacedName) (time.Duration, error) {
			t.Error("a reconcile before the caches are filled")
			return 0, nil
		}})
		loop.add(web)
		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		empty := &cacheWait{resource: "pods", synced: func() bool { return false }}
		if err := runLoops(ctx, &Filling{name: "test", timeout: CacheSyncTimeout, waits: []*cacheWait{empty}}, loop); err != nil {
			t.Errorf("it was ended before the caches were filled: %v", err)
		}
	})
}

func TestLoopRunsInformers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := fcache.NewFakeControllerSource()
		defer source.Shutdown()
		source.Add(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-0"}})
		informer := cache.NewSharedIndexInformer(source, &corev1.Pod{}, 0, cache.Indexers{})
		shown := 0
		loop := newLoop(loopConfig{Name: "test", reconcile: func(context.Context, types.NamespacedName) (time.Duration, error) {
			shown = len(informer.GetStore().List())
			return 0, nil
		}})
		loop.add(web)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		filling := &Filling{name: "test", timeout: CacheSyncTimeout, informers: []cache.SharedIndexInformer{informer}, waits: []*cacheWait{{resource: "pods", synced: informer.HasSynced}}}
		if err := runLoops(ctx, filling, loop); err != nil || shown != 1 {
			t.Errorf("error %v, the reconcile saw %d pods, want 1", err, shown)
		}
		if !informer.IsStopped() {
			t.Error("Run left an informer running")
		}
	})
}

func TestLoopRunsOnce(t *testing.T) { // CT-4
	synctest.Test(t, func(t *testing.T) {
		loop := newLoop(loopConfig{Name: "test", reconcile: func(context.Context, types.NamespacedName) (time.Duration, error) { return 0, nil }})
		filling := &Filling{name: "test", timeout: CacheSyncTimeout}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := runLoops(ctx, filling, loop); err != nil {
			t.Error(err)
		}
		if err := runLoops(t.Context(), filling, loop); err == nil {
			t.Error("a second Run returns no error")
		}
	})
}

// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// refusing is an API server that answers every list and watch with an error.
func refusing(err error) *cache.ListWatch {
	return &cache.ListWatch{
		ListWithContextFunc:  func(context.Context, metav1.ListOptions) (runtime.Object, error) { return nil, err },
		WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) { return nil, err },
	}
}

// What cannot be filled ends in time, and the error names the resource, the answer and what to do. (CT-16)
func TestFillingGivesUp(t *testing.T) {
	handlers := utilruntime.ErrorHandlers
	defer func() { utilruntime.ErrorHandlers = handlers }()
	utilruntime.ErrorHandlers = handlers[:1] // the other one sleeps by what the real clock was when the program started
	pods := corev1.Resource("pods")
	unused := cache.NewSharedIndexInformer(refusing(errors.New("not asked")), &corev1.Pod{}, 0, cache.Indexers{})
	for _, test := range []struct {
		name   string
		answer error
		shared cache.SharedIndexInformer
		is     func(error) bool
		want   string
	}{
		{"CT-16: it is not served", apierrors.NewNotFound(pods, ""), nil, apierrors.IsNotFound, "pods: the API server does not serve it: install its CRD"},
		{"CT-16: it may not be listed", apierrors.NewForbidden(pods, "", errors.New("no rule")), nil, apierrors.IsForbidden, "pods: the client may not list or watch it"},
		{"CT-16: the API server is down", errors.New("connection refused"), nil, func(error) bool { return true }, "connection refused"},
		{"CT-16: a shared informer that does not run", nil, unused, func(error) bool { return true }, "pods: its informer is shared: does the caller run it"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				informer := test.shared
				sources, err := Open("test", []Read{{Resource: "pods", Informer: &informer, MakeInformer: func() cache.SharedIndexInformer {
					return cache.NewSharedIndexInformer(refusing(test.answer), &corev1.Pod{}, 0, cache.Indexers{})
				}}})
				if err != nil {
					t.Fatal(err)
				}
				filling, start := sources.Filling("test", 0), time.Now()
				err = filling.Run(t.Context(), func(context.Context) error {
					t.Error("work begins without caches")
					return nil
				})
				if err == nil || !test.is(err) || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "test: caches are not filled after 2m0s") {
					t.Errorf("error %v", err)
				}
				if took := time.Since(start).Round(time.Second); took != CacheSyncTimeout || filling.HasSynced() {
					t.Errorf("it took %s, filled %v", took, filling.HasSynced())
				}
			})
		})
	}
}

// A stop that the caller asked for is no error, whenever it is; a failure of the one or the other ends both. (CT-16)
func TestFillingEnds(t *testing.T) {
	failure := errors.New("failure")
	never, always := func() bool { return false }, func() bool { return true }
	for _, test := range []struct {
		name        string
		stopAfter   time.Duration // 0: the caller does not
		synced      func() bool
		asked       bool
		otherSynced func() bool
		wantErr     bool
		want        time.Duration
	}{
		{"before the caches are filled", time.Minute, never, false, never, false, time.Minute},
		{"afterwards", time.Hour, always, false, never, false, time.Hour},
		{"afterwards, of both", time.Hour, always, true, always, false, time.Hour},
		{"while the others are filled", time.Minute, always, true, never, false, time.Minute},
		{"its own are not filled", 0, never, false, always, true, CacheSyncTimeout},
		{"the others are not filled", 0, always, true, never, true, CacheSyncTimeout},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				filling := func(synced func() bool) *Filling {
					return &Filling{name: "test", timeout: CacheSyncTimeout, waits: []*cacheWait{{resource: "pods", synced: synced}}}
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if test.stopAfter > 0 {
					time.AfterFunc(test.stopAfter, cancel)
				}
				asked, start := make(chan struct{}), time.Now()
				if test.asked {
					close(asked)
				}
				one := filling(test.synced)
				err := one.RunAfter(ctx, asked, filling(test.otherSynced).Fill)
				if took := time.Since(start).Round(time.Second); (err != nil) != test.wantErr || took != test.want {
					t.Errorf("error %v after %s, want one: %v after %s", err, took, test.wantErr, test.want)
				}
				if err := one.Run(t.Context(), nil); err == nil {
					t.Error("a second Run returns no error")
				}
			})
		})
	}
	err := (&Filling{name: "test", timeout: CacheSyncTimeout}).Run(t.Context(), func(context.Context) error { return failure })
	if !errors.Is(err, failure) {
		t.Errorf("work failed, and Run returned %v", err)
	}
	if f := (&Filling{waits: []*cacheWait{{synced: always}, {synced: never}}}); f.HasSynced() {
		t.Error("one cache is not filled, and all are said to be")
	}
}

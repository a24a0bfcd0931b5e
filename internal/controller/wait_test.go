// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/caches"
)

// The longer a reconcile waits for a cache, the less often it looks.
func TestWaitsBackOff(t *testing.T) {
	s := newFixture(t)
	s.synced = "6"
	s.writer.Own.Wrote(web, caches.Pods, "7")
	looks := 0
	var last time.Duration
	for s.clock.Since(time.Unix(0, 0)) < staleLimit {
		wait, err := s.Reconcile(t.Context(), web)
		if err != nil || wait < last || len(s.applied) > 0 {
			t.Fatalf("again after %v, after %v before, error %v, applied %v", wait, last, err, s.applied)
		}
		last = wait
		s.clock.Step(wait)
		looks++
	}
	if looks > 100 || last < 20*time.Second {
		t.Errorf("it looks %d times in %v, the last time after %v", looks, staleLimit, last)
	}
}

// After a restore of the API server's storage its versions are lower than
// before, and the cache never comes to that of the last write.
func TestRestoreOfTheStorage(t *testing.T) {
	s := newFixture(t)
	s.writer.Own.Wrote(web, caches.Pods, "1000000")
	s.synced = createPod(t, s.writer.Kubernetes, "newest").ResourceVersion
	if wait, err := s.Reconcile(t.Context(), web); wait == 0 || err != nil || len(s.applied) > 0 {
		t.Fatalf("again after %v, error %v, applied %v", wait, err, s.applied)
	}
	s.clock.Step(staleLimit)
	if after, err := s.Reconcile(t.Context(), web); after != time.Minute || err != nil || len(s.applied) != 1 {
		t.Errorf("again after %v, error %v, applied %v: want a reconcile on what there is now", after, err, s.applied)
	}

	s.writer.Own.Wrote(web, caches.Pods, "1000000")
	s.synced = "1" // this cache is behind, as the server says
	for range 3 {
		s.clock.Step(staleLimit)
		if wait, err := s.Reconcile(t.Context(), web); wait == 0 || err != nil || len(s.applied) > 1 {
			t.Errorf("again after %v, error %v, applied %v", wait, err, s.applied)
		}
	}
}

// A cache whose watch is broken is waited for, whatever the time.
func TestCacheThatStandsStill(t *testing.T) {
	s := newFixture(t)
	s.writer.Own.Wrote(web, caches.Pods, createPod(t, s.writer.Kubernetes, "web-2").ResourceVersion)
	for range 3 {
		wait, err := s.Reconcile(t.Context(), web)
		if wait == 0 || err != nil || len(s.applied) > 0 {
			t.Errorf("again after %v, error %v, applied %v", wait, err, s.applied)
		}
		s.clock.Step(staleLimit)
	}
}

func TestCachesThatCannotBeWaitedFor(t *testing.T) {
	for _, test := range []struct{ name, synced, want string }{
		{"one that cannot tell how far it is", "", "Options.AllowStaleReads"},
		{"one whose versions are no numbers", "b7", "versions are numbers"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newFixture(t)
			s.synced = test.synced
			s.writer.Own.Wrote(web, caches.Pods, "7")
			if _, err := s.Reconcile(t.Context(), web); err == nil || !strings.Contains(err.Error(), test.want) || len(s.applied) > 0 {
				t.Errorf("error %v, applied %v", err, s.applied)
			}
			s.AllowStaleReads = true
			if _, err := s.Reconcile(t.Context(), web); err != nil || len(s.applied) != 1 {
				t.Errorf("where that is allowed: error %v, applied %v", err, s.applied)
			}
		})
	}
}

// A created pod that exists, and that the cache at its version lacks, was left
// out by the cache.
func TestCacheThatLeavesPodsOut(t *testing.T) {
	owner := []metav1.OwnerReference{{APIVersion: "apps.kruise.io/v1alpha1", Kind: "CloneSet", Name: "web", UID: "uid-web", Controller: new(true)}}
	lent := []metav1.OwnerReference{{APIVersion: "apps.kruise.io/v1alpha1", Kind: "CloneSet", Name: "web", UID: "uid-web"}}
	for _, test := range []struct {
		name   string
		owners []metav1.OwnerReference // nil: the pod is gone again
		fails  bool
	}{
		{"it exists", owner, true},
		{"it is gone again", nil, false},
		{"it was released", []metav1.OwnerReference{}, false},
		{"it is another's, and only collected with it", lent, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newFixture(t)
			if test.owners != nil {
				pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web-2", OwnerReferences: test.owners},
					Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx"}}}}
				if _, err := s.writer.Kubernetes.CoreV1().Pods("shop").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			s.writer.Own.Created(web, apiwriter.Creation{Resource: caches.Pods, Name: "web-1", Owner: "uid-web"}) // which the cache shows
			s.writer.Own.Created(web, apiwriter.Creation{Resource: caches.Pods, Name: "web-2", Owner: "uid-web"})
			for try := range 2 {
				_, err := s.Reconcile(t.Context(), web)
				if (err != nil) != test.fails || err != nil && !strings.Contains(err.Error(), "does its informer select by labels") {
					t.Errorf("reconcile %d: error %v", try, err)
				}
			}
			if (len(s.applied) == 0) != test.fails {
				t.Errorf("applied %v", s.applied)
			}
		})
	}
}

// If there is no API server to ask, a reconcile goes on with what the cache has.
func TestWaitWithoutAServerToAsk(t *testing.T) {
	var own apiwriter.Store
	key := types.NamespacedName{Name: "node"}
	own.Wrote(key, "nodeimages", "7")
	synced := func(podwright.Resource) string { return "6" }
	start := time.Unix(0, 0)
	for _, test := range []struct {
		after time.Duration
		waits bool
	}{{0, true}, {staleLimit - time.Second, true}, {staleLimit, false}, {staleLimit + time.Hour, false}} {
		if wait, err := Wait(t.Context(), &own, key, synced, start.Add(test.after), nil); err != nil || (wait > 0) != test.waits {
			t.Errorf("after %v: again after %v, error %v", test.after, wait, err)
		}
	}
	own.Wrote(key, "nodeimages", "7")
	down := errors.New("connection refused")
	live := func(_ context.Context, _ string, _ podwright.Resource) (string, error) { return "", down }
	_, _ = Wait(t.Context(), &own, key, synced, start, live)
	if _, err := Wait(t.Context(), &own, key, synced, start.Add(staleLimit), live); !errors.Is(err, down) {
		t.Errorf("error %v", err)
	}
}

// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	clock "k8s.io/utils/clock/testing"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/fakecluster"
)

var web = types.NamespacedName{Namespace: "shop", Name: "web"}

// snapshot names pods, plan counts them.
type (
	snapshot []string
	plan     int
)

// fixture is a reconciler whose steps the test decides.
type fixture struct {
	*reconciler[snapshot, plan]
	writer *apply.Writer
	clock  *clock.FakeClock
	synced string // the resourceVersion at which all caches are

	observed   *snapshot // nil: the workload is gone
	observeErr error
	takes      time.Duration // to plan
	applied    []plan
	applyErr   error
	waited     int
}

// Reconciled and Waited are podwright.Metrics.

func (s *fixture) Reconciled(string, time.Duration, error) {}
func (s *fixture) Waited(string)                           { s.waited++ }

func newFixture(t *testing.T) *fixture {
	t.Helper()
	s := &fixture{synced: "1", clock: clock.NewFakeClock(time.Unix(0, 0)), observed: &snapshot{"web-0", "web-1"}}
	client, err := kubernetes.NewForConfig(fakecluster.New(nil).Config("controller"))
	if err != nil {
		t.Fatal(err)
	}
	createPod(t, client, "other") // the server has come to a version later than 1
	s.writer = apply.NewWriter(client)
	s.reconciler = newReconciler(Definition[snapshot, plan]{
		ControllerOptions: podwright.ControllerOptions{Clock: s.clock, Metrics: s}, Writer: s.writer,
		reads:   []Read{{Resource: caches.Pods, LiveReader: apiwriter.Pods(client)}, {Resource: caches.Claims, LiveReader: apiwriter.Claims(client), CollectEvents: true}},
		synced:  func(podwright.Resource) string { return s.synced },
		Observe: func(context.Context, types.NamespacedName) (*snapshot, error) { return s.observed, s.observeErr },
		Plan: func(pods *snapshot) *plan {
			s.clock.Step(s.takes)
			p := plan(len(*pods))
			return &p
		},
		Apply: func(_ context.Context, _ *snapshot, p *plan) (time.Duration, error) {
			s.applied = append(s.applied, *p)
			return time.Minute, s.applyErr
		},
		SnapshotHolds: func(names *snapshot, resource podwright.Resource) func(string) bool {
			return func(name string) bool {
				return resource == caches.Pods && slices.Contains(*names, name) || resource == caches.Claims && name == "data"
			}
		},
	})
	return s
}

func createPod(t *testing.T, client kubernetes.Interface, name string) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx"}}}}
	pod, err := client.CoreV1().Pods("shop").Create(t.Context(), pod, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return pod
}

func createClaim(t *testing.T, client kubernetes.Interface) {
	t.Helper()
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data"}}
	if _, err := client.CoreV1().PersistentVolumeClaims("shop").Create(t.Context(), claim, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func TestReconcile(t *testing.T) {
	failure := errors.New("failure")
	for _, test := range []struct {
		name    string
		set     func(*fixture)
		after   time.Duration
		err     error
		applied []plan
	}{
		{"a reconcile", func(*fixture) {}, time.Minute, nil, []plan{2}},
		{"a workload that is gone", func(s *fixture) { s.observed = nil }, 0, nil, nil},
		{"what cannot be read", func(s *fixture) { s.observeErr = failure }, 0, failure, nil},
		{"what cannot be applied", func(s *fixture) { s.applyErr = failure }, time.Minute, failure, []plan{2}},
		{"a cache that does not show the last write", func(s *fixture) {
			s.synced = "6"
			s.writer.Own.Wrote(web, caches.Pods, "7")
		}, StaleRetry, nil, nil},
		{"a cache that shows it", func(s *fixture) {
			s.synced = "7"
			s.writer.Own.Wrote(web, caches.Pods, "7")
		}, time.Minute, nil, []plan{2}},
		{"a write whose answer was lost, and that was not made", func(s *fixture) { s.writer.Own.Lost(web, caches.Pods, "web-2") },
			time.Minute, nil, []plan{2}},
		{"a deletion whose answer was lost, while the cache shows the pod", func(s *fixture) {
			s.synced = "1"
			s.writer.Own.Lost(web, caches.Pods, "web-1")
		}, StaleRetry, nil, nil},
		{"a deletion of a claim whose answer was lost, while the cache shows the claim", func(s *fixture) {
			createClaim(t, s.writer.Kubernetes)
			s.synced = "1"
			s.writer.Own.Lost(web, caches.Claims, "data")
		}, StaleRetry, nil, nil},
		{"a deletion of what the cache does not show", func(s *fixture) {
			s.synced = "1"
			s.writer.Own.Lost(web, caches.Claims, "web-1")
		}, time.Minute, nil, []plan{2}},
		{"a lost write of a workload that is gone", func(s *fixture) {
			s.observed = nil
			s.writer.Own.Lost(web, caches.Pods, "web-1")
		}, 0, nil, nil},
		{"a lost write while nothing can be read", func(s *fixture) {
			s.observeErr = failure
			s.writer.Own.Lost(web, caches.Pods, "web-1")
		}, 0, failure, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newFixture(t)
			test.set(s)
			after, err := s.Reconcile(t.Context(), web)
			if after != test.after || !errors.Is(err, test.err) {
				t.Errorf("again after %v, error %v; want %v, %v", after, err, test.after, test.err)
			}
			if waits := test.after == StaleRetry; (s.waited == 1) != waits {
				t.Errorf("measured %d waits, want one: %v", s.waited, waits)
			}
			if diff := cmp.Diff(test.applied, s.applied); diff != "" {
				t.Errorf("applied (-want +got):\n%s", diff)
			}
		})
	}
}

// A creation whose answer was lost is found, and waited for.
func TestLostCreation(t *testing.T) {
	s := newFixture(t)
	pod := createPod(t, s.writer.Kubernetes, "web-2")
	s.writer.Own.Lost(web, caches.Pods, "web-2")
	s.synced = "1"
	for range 2 {
		if after, err := s.Reconcile(t.Context(), web); after != StaleRetry || err != nil || len(s.applied) > 0 {
			t.Errorf("again after %v, error %v, applied %v", after, err, s.applied)
		}
	}
	s.synced = pod.ResourceVersion
	if after, err := s.Reconcile(t.Context(), web); after != time.Minute || err != nil || len(s.applied) != 1 {
		t.Errorf("again after %v, error %v, applied %v", after, err, s.applied)
	}
}

// TestRequeueCountsFromTheObservation: a plan says when the next one is due, counted from the observation. Time that
// passes after it, in a request that hangs for instance, does not postpone the next plan.
func TestRequeueCountsFromTheObservation(t *testing.T) {
	for takes, want := range map[time.Duration]time.Duration{0: time.Minute, 40 * time.Second: 20 * time.Second, time.Hour: StaleRetry} {
		s := newFixture(t)
		s.takes = takes
		if after, err := s.Reconcile(t.Context(), web); after != want || err != nil {
			t.Errorf("after %v the next reconcile is in %v (error %v), want %v", takes, after, err, want)
		}
	}
}

func TestPlan(t *testing.T) {
	s := newFixture(t)
	s.writer.Own.Wrote(web, caches.Pods, "7") // it does not wait
	s.synced = "1"
	if next, err := s.Plan(t.Context(), web); err != nil || next == nil || *next != 2 || len(s.applied) > 0 {
		t.Errorf("the next plan is %v, error %v, applied %v", next, err, s.applied)
	}
	s.observed = nil
	if next, err := s.Plan(t.Context(), web); err != nil || next != nil {
		t.Errorf("the next plan of nothing is %v, error %v", next, err)
	}
	s.observeErr = errors.New("failure")
	if _, err := s.Plan(t.Context(), web); !errors.Is(err, s.observeErr) {
		t.Errorf("error %v", err)
	}
}

func TestSettleTime(t *testing.T) {
	s := newFixture(t)
	for _, test := range []struct{ takes, want time.Duration }{
		{0, 10 * time.Millisecond},
		{time.Millisecond, 20 * time.Millisecond},
		{time.Second, 500 * time.Millisecond},
	} {
		s.takes = test.takes
		if _, err := s.Reconcile(t.Context(), web); err != nil {
			t.Fatal(err)
		}
		if got := s.SettleTime(web); got != test.want {
			t.Errorf("where planning takes %v, events settle for %v, want %v", test.takes, got, test.want)
		}
	}
	s.observed = nil
	if _, err := s.Reconcile(t.Context(), web); err != nil || s.SettleTime(web) != 10*time.Millisecond {
		t.Errorf("error %v, a workload that is gone settles for %v", err, s.SettleTime(web))
	}
}

func TestForgetsWhatIsGone(t *testing.T) {
	s := newFixture(t)
	s.writer.Workloads = "workloads"
	s.writer.Merge = func(context.Context, types.NamespacedName, []byte, ...string) (string, error) { return "9", nil }
	workload := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: web.Namespace, Name: web.Name}}
	if err := s.writer.Begin(workload).WriteStatus(t.Context(), workload.Status, workload.Status); err != nil {
		t.Fatal(err)
	}
	s.synced = "9"
	for _, there := range []bool{true, false} {
		if !there {
			s.observed = nil
		}
		if _, err := s.Reconcile(t.Context(), web); err != nil || s.writer.WroteStatus(web, "9", "another") != there {
			t.Errorf("the workload exists: %v; its status is remembered: %v, error %v", there, s.writer.WroteStatus(web, "9", "another"), err)
		}
	}
}

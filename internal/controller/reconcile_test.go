// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
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
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

var web = types.NamespacedName{Namespace: "shop", Name: "web"}

// snapshot names pods, plan counts them.
type (
	snapshot []string
	plan     int
)

// reconciling is a reconciler whose steps the test decides.
type reconciling struct {
	*reconciler[snapshot, plan]
	*testing.T
	writer *apply.Writer
	clock  *clock.FakeClock
	synced string // the resourceVersion at which all caches are

	observed   *snapshot // nil: the workload is gone
	observeErr error
	takes      time.Duration // to plan
	applied    []plan
	applyErr   error
	waited     int
	newest     string // the resourceVersion of the last creation
}

// Reconciled and Waited are podwright.Metrics.

func (s *reconciling) Reconciled(string, time.Duration, error) {}
func (s *reconciling) Waited(string)                           { s.waited++ }

func newReconciling(t *testing.T) *reconciling {
	t.Helper()
	s := &reconciling{T: t, synced: "1", clock: clock.NewFakeClock(time.Unix(0, 0)), observed: &snapshot{"web-0", "web-1"}}
	client := fixture.Connect(t, fakecluster.New(nil), "controller", kubernetes.NewForConfig)
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
	s.create("pods", "other", nil) // the server has come to a version later than 1
	return s
}

// create creates a pod or a claim.
func (s *reconciling) create(resource, name string, owners []metav1.OwnerReference) {
	s.Helper()
	meta := metav1.ObjectMeta{Namespace: "shop", Name: name, OwnerReferences: owners}
	var object metav1.Object
	var err error
	if resource == "pods" {
		pod := &corev1.Pod{ObjectMeta: meta, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx"}}}}
		object, err = s.writer.Kubernetes.CoreV1().Pods("shop").Create(s.Context(), pod, metav1.CreateOptions{})
	} else {
		object, err = s.writer.Kubernetes.CoreV1().PersistentVolumeClaims("shop").Create(s.Context(), &corev1.PersistentVolumeClaim{ObjectMeta: meta}, metav1.CreateOptions{})
	}
	if err != nil {
		s.Fatal(err)
	}
	s.newest = object.GetResourceVersion()
}

// TestReconciles shows what reconciles do in testdata/reconciles.txt, of a workload with the pods web-0 and web-1. The plan is how many pods it has.
//
//	synced 6, wrote pods 7         how far the caches are, and the last write of a resource; "newest" is that of the last creation
//	lost pods web-2                a write whose answer was lost
//	created pods web-2             one that was answered
//	create pods web-2 [controlled|owned]
//	                               there is such a pod, of the workload or only owned by it
//	status 9, remembers 9          writes the status; whether that is remembered
//	gone, observe fails, apply fails, takes 1s
//	                               the workload is gone, a step fails, or planning takes time
//	pass 5m, allow-stale-reads     time passes; the option
//	reconcile, plan, settles       what comes of them, and how long events settle
//	waits 1m                       reconciles that wait, for a time
func TestReconciles(t *testing.T) {
	datadriven.RunTest(t, "testdata/reconciles.txt", func(t *testing.T, d *datadriven.TestData) string {
		s := newReconciling(t)
		var out strings.Builder
		for line := range strings.Lines(d.Input) {
			words := append(strings.Fields(line), "", "")
			if words[0] == "#" {
				continue
			}
			if shown := s.do(words[0], strings.Replace(words[1], "newest", s.newest, 1), strings.Replace(words[2], "newest", s.newest, 1), words[3:]); shown != "" {
				fmt.Fprintf(&out, "%s: %s\n", strings.TrimSpace(line), shown)
			}
		}
		return out.String()
	})
}

// do does a step, and returns what it shows.
func (s *reconciling) do(what, first, second string, further []string) string {
	s.Helper()
	resource := podwright.Resource(first)
	switch what {
	case "synced":
		s.synced = first
	case "wrote":
		s.writer.Own.Wrote(web, resource, second)
	case "lost":
		s.writer.Own.Lost(web, resource, second)
	case "created":
		s.writer.Own.Created(web, apiwriter.Creation{Resource: resource, Name: second, Owner: "uid-web"})
	case "create":
		var owners []metav1.OwnerReference
		if owner := further[0]; owner != "" {
			owners = []metav1.OwnerReference{{APIVersion: "apps.kruise.io/v1alpha1", Kind: "CloneSet", Name: "web", UID: "uid-web", Controller: new(owner == "controlled")}}
		}
		s.create(first, second, owners)
	case "gone":
		s.observed = nil
	case "observe":
		s.observeErr = errors.New("failure")
	case "apply":
		s.applyErr = errors.New("failure")
	case "takes":
		s.takes = s.duration(first)
	case "pass":
		s.clock.Step(s.duration(first))
	case "allow-stale-reads":
		s.AllowStaleReads = true
	case "status":
		s.writer.Workloads = "workloads"
		s.writer.Merge = func(context.Context, types.NamespacedName, []byte, ...string) (string, error) { return first, nil }
		workload := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: web.Namespace, Name: web.Name}}
		if err := s.writer.Begin(workload).WriteStatus(s.Context(), workload.Status, workload.Status); err != nil {
			s.Fatal(err)
		}
	default:
		return s.show(what, first)
	}
	return ""
}

func (s *reconciling) show(what, first string) string {
	s.Helper()
	switch what {
	case "remembers":
		return fmt.Sprint(s.writer.WroteStatus(web, first, "another"))
	case "settles":
		return s.SettleTime(web).String()
	case "plan":
		next, err := s.Plan(s.Context(), web)
		if next == nil || len(s.applied) > 0 {
			return fmt.Sprintf("none, applied %v, error %v", s.applied, err)
		}
		return fmt.Sprintf("%v, error %v", *next, err)
	case "reconcile":
		s.applied, s.waited = nil, 0
		after, err := s.Reconcile(s.Context(), web)
		shown := fmt.Sprintf("applied %v, again after %s", s.applied, after)
		if s.waited > 0 {
			shown += fmt.Sprintf(", measured %d waits", s.waited)
		}
		if err != nil {
			shown += ", error: " + err.Error()
		}
		return shown
	case "waits":
		looks, last := 0, time.Duration(0)
		for end := s.clock.Now().Add(s.duration(first)); s.clock.Now().Before(end); looks++ {
			wait, err := s.Reconcile(s.Context(), web)
			if err != nil || wait < last || len(s.applied) > 0 {
				s.Fatalf("again after %v, after %v before, error %v, applied %v", wait, last, err, s.applied)
			}
			last = wait
			s.clock.Step(wait)
		}
		return fmt.Sprintf("it looks %d times, the last time after %s", looks, last)
	}
	s.Fatalf("unknown step %s", what)
	return ""
}

func (s *reconciling) duration(text string) time.Duration {
	s.Helper()
	d, err := time.ParseDuration(text)
	if err != nil {
		s.Fatal(err)
	}
	return d
}

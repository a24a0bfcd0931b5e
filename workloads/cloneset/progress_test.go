// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/scenario"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// TestProgress plays the stories of testdata/progress.txt, which says how to read it. (CS-S4)
func TestProgress(t *testing.T) { playStories(t, "testdata/progress.txt", Features{}) }

// TestProgressReasons plays those of testdata/progress_reasons.txt. (CS-47)
func TestProgressReasons(t *testing.T) {
	playStories(t, "testdata/progress_reasons.txt", Features{ProgressReasons: true})
}

func playStories(t *testing.T, file string, features Features) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, stories, _ := strings.Cut(string(data), "\nstory ")
	for story := range strings.SplitSeq(stories, "\nstory ") {
		name, lines, _ := strings.Cut(story, "\n")
		t.Run(name, func(t *testing.T) { playProgress(t, lines, features) })
	}
}

func playProgress(t *testing.T, lines string, features Features) {
	w := newScenario(t)
	w.features = features
	for line := range strings.SplitSeq(strings.TrimSpace(lines), "\n") {
		parts := strings.Split(line, "=>")
		words := strings.Fields(parts[0])
		switch words[0] {
		case "spec":
			w.Spec(words[1:]...)
		case "wait":
			passes, err := time.ParseDuration(words[1])
			if err != nil {
				t.Fatal(err)
			}
			w.Now = w.Now.Add(passes)
		case "break":
			for _, pod := range w.Pods {
				w.Break(pod.Name, true)
			}
		default:
			t.Fatalf("unknown: %s", line)
		}
		w.settle()
		if got, want := w.progress(), strings.TrimSpace(parts[1]); got != want {
			t.Errorf("%s: %s, want %s; status %+v", parts[0], got, want, w.set.Status)
		}
	}
}

// progress is what the condition Progressing says.
func (w *setScenario) progress() string {
	if c := statuses.Find(&w.set.Status, v1alpha1.CloneSetConditionProgressing); c != nil {
		return fmt.Sprint(c.Status, " ", c.Reason)
	}
	return "none"
}

// The deadline is looked at again when it ends, and nothing is written until then. (CS-S4)
func TestDeadlineIsAwaited(t *testing.T) {
	w := newScenario(t)
	w.Spec("replicas=3", "deadline=600", "image=nginx:bad")
	w.settle()
	plan := NewPlan(w.snapshot())
	if plan.Status != nil || plan.RequeueAfter <= 590*time.Second || plan.RequeueAfter > 600*time.Second {
		t.Fatalf("status %+v, again after %v", plan.Status, plan.RequeueAfter)
	}
	w.Now = w.Now.Add(time.Minute)
	w.Reconcile(&strings.Builder{}) // says what holds it up (CS-40)
	plan = NewPlan(w.snapshot())
	w.Now = w.Now.Add(plan.RequeueAfter - time.Second)
	if plan = NewPlan(w.snapshot()); plan.Status != nil || plan.RequeueAfter != time.Second {
		t.Fatalf("a second before: status %+v, again after %v", plan.Status, plan.RequeueAfter)
	}
	w.Now = w.Now.Add(time.Second)
	w.Reconcile(&strings.Builder{})
	if got := w.progress(); got != "False ProgressDeadlineExceeded" {
		t.Errorf("then: %s", got)
	}
	if plan = NewPlan(w.snapshot()); scenario.Acts(&plan.Plan) || plan.Status != nil || plan.RequeueAfter != 0 {
		t.Errorf("afterwards: %+v, again after %v", plan.Status, plan.RequeueAfter)
	}
}

// A CloneSet that wants pods and can create none is shown as neither observed nor settled, however long it lasts. What is created
// is counted at once. (CS-S2, CS-S3, CS-S5)
func TestFirstStatus(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.create(3, "")
		c.FailBefore(fixture.Fail("create pods", apierrors.NewForbidden(corev1.Resource("pods"), "", nil)))
		for range 3 {
			c.MustFailReconcile(func(error) bool { return true })
			status := c.get().Status
			if status.ObservedGeneration != 0 || status.Replicas != 0 || statuses.Find(&status, v1alpha1.CloneSetConditionReconciling) == nil {
				t.Fatalf("status %+v", status)
			}
		}
		c.FailBefore(nil)
		c.MustReconcile()
		status := c.get().Status
		reason := statuses.Find(&status, v1alpha1.CloneSetConditionReconciling).Reason
		if diff := cmp.Diff([]any{int64(1), int32(3), int32(3), int32(0), "PodsUnavailable"},
			[]any{status.ObservedGeneration, status.Replicas, status.UpdatedReplicas, status.AvailableReplicas, reason}); diff != "" {
			t.Errorf("after the creation (-want +got):\n%s", diff)
		}
		c.Settle()
		if status := c.get().Status; len(status.Conditions) > 0 || status.AvailableReplicas != 3 {
			t.Errorf("settled: %+v", status)
		}
	})
}

// Of what a status counted before the reconcile, only those pods are taken back that could not be created. (CS-S2)
func TestSomeCannotBeCreated(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.create(5, `{"spec":{"progressDeadlineSeconds":600}}`)
		var created atomic.Int32
		c.FailBefore(func(r fakecluster.Request) error {
			if r.Verb == "create" && r.Resource == "pods" && created.Add(1) > 2 {
				return apierrors.NewForbidden(corev1.Resource("pods"), "", nil)
			}
			return nil
		})
		c.MustFailReconcile(func(error) bool { return true })
		if status := c.get().Status; status.Replicas != 2 || status.UpdatedReplicas != 2 || status.ObservedGeneration != 1 {
			t.Errorf("status %+v", status)
		}
	})
}

// SPDX-License-Identifier: Apache-2.0

package ephemeraljob

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

func podNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("web-%04d", i)
	}
	return names
}

// addMany creates pods of one age.
func (c *cluster) addMany(n int) {
	c.T.Helper()
	for _, name := range podNames(n) {
		_, err := c.Kube.CoreV1().Pods(web.Namespace).Create(c.T.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "web"}},
			Spec: corev1.PodSpec{NodeName: "node-1", Containers: []corev1.Container{{Name: "main", Image: "web:1"}}}}, metav1.CreateOptions{})
		c.Must(err)
	}
}

// EJ-10, EJ-13, EJ-22: 500 pods cost a dry run and a request each, and the status.
func TestRequests(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.addMany(500)
		c.Create(testJob("web"), `{"spec":{"parallelism":500}}`)
		want := []string{"1 patch ephemeraljobs", "1 patch ephemeraljobs/status", "501 patch pods/ephemeralcontainers"}
		if diff := cmp.Diff(want, c.MustReconcile()); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
		if requests := c.MustReconcile(); len(requests) > 0 {
			t.Errorf("EJ-8: requests %v while nothing is known of the containers", requests)
		}
		c.nodeStep()
		c.Sleep("2s")
		if diff := cmp.Diff([]string{"1 patch ephemeraljobs/status"}, c.MustReconcile()); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
		c.nodeStep()
		if diff := cmp.Diff([]string{"1 patch ephemeraljobs/status"}, c.MustReconcile()); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
		if job := c.get("web"); job.Status.Phase != v1alpha1.EphemeralJobSucceeded || len(job.Status.PodResults) != 500 {
			t.Errorf("phase %s, %d results", job.Status.Phase, len(job.Status.PodResults))
		}
		if requests := c.MustReconcile(); len(requests) > 0 {
			t.Errorf("requests %v of a job that is over", requests)
		}
	})
}

// EJ-9, EJ-22: the API server takes 50 ms for a request. The controller injects into 500 pods at more than
// 100 a second, also if a limit has most of them wait for others. Progress does not cost as many writes.
func TestSpeed(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.addMany(500)
		var busy, most, injected, statuses atomic.Int32
		c.FailBefore(func(r fakecluster.Request) error {
			if r.User != fixture.ControllerUser || r.Verb != "patch" {
				return nil
			}
			if n := busy.Add(1); n > most.Load() {
				most.Store(n)
			}
			time.Sleep(50 * time.Millisecond)
			busy.Add(-1)
			switch r.String() {
			case "patch pods/ephemeralcontainers":
				injected.Add(1)
			case "patch ephemeraljobs/status":
				statuses.Add(1)
			}
			return nil
		})
		_, stop := c.start()
		defer stop()
		began := time.Now()
		c.Create(testJob("web"), `{"spec":{"parallelism":50}}`)
		for injected.Load() < 501 && time.Since(began) < time.Minute {
			time.Sleep(30 * time.Millisecond)
			c.nodeStep()
		}
		took := time.Since(began)
		if rate := 500 / took.Seconds(); rate < 100 {
			t.Errorf("500 pods took %s, which is %.0f a second", took, rate)
		}
		if most.Load() > atOnce+1 {
			t.Errorf("%d requests at once", most.Load())
		}
		c.nodeStep()
		c.nodeStep()
		c.Sleep("2s")
		if job := c.get("web"); job.Status.Phase != v1alpha1.EphemeralJobSucceeded || job.Status.Succeeded != 500 {
			t.Errorf("phase %s, %d have succeeded", job.Status.Phase, job.Status.Succeeded)
		}
		if n := statuses.Load(); n > 15 {
			t.Errorf("%d writes of the status in %s", n, took)
		}
	})
}

var errPolicy = apierrors.NewForbidden(corev1.Resource("pods"), "web-a", fmt.Errorf("violates PodSecurity: host namespaces"))

// EJ-13, EJ-14, EJ-21: if the API server refuses everything, no pod is touched, and the job asks ever less often.
func TestRefusedByPolicy(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.addPods("web-a", "web-b", "web-c", "web-d")
		var asked []time.Time
		began, wrote := time.Now(), 0
		c.FailBefore(func(r fakecluster.Request) error {
			if r.String() != "patch pods/ephemeralcontainers" {
				return nil
			}
			if !r.DryRun {
				wrote++
			}
			asked = append(asked, time.Now())
			return errPolicy
		})
		_, stop := c.start()
		defer stop()
		c.Create(testJob("web"), `{"spec":{"parallelism":4}}`)
		c.Sleep("10m")
		if wrote > 0 || len(asked) < 10 || len(asked) > 60 {
			t.Errorf("asked %d times, and wrote %d times", len(asked), wrote)
		}
		if first := asked[1]; first.Sub(began) > 2*time.Second {
			t.Errorf("asked after %s", first.Sub(began))
		}
		want := `Unknown match=4 running=0 succeeded=0 waiting=0 failed=0
Initialized=True Initialized: The controller has seen the job
InjectionRefused=True Refused: web-a: pods "web-a" is forbidden: violates PodSecurity: host namespaces; web-b: pods "web-a" is forbidden: violates PodSecurity: host namespaces; ` +
			`web-c: pods "web-a" is forbidden: violates PodSecurity: host namespaces; and 1 more`
		if diff := cmp.Diff(want, c.outcome("web")); diff != "" {
			t.Errorf("outcome (-want +got):\n%s", diff)
		}
		if n := c.Events.Count(eventCreateFailed); n != 4 {
			t.Errorf("%d events, want one a pod: %v", n, c.Events.All())
		}
		c.FailBefore(nil)
		c.Edit(`{"spec":{"template":{"ephemeralContainers":[{"name":"debug","image":"allowed"}]}}}`) // a new generation is tried at once
		c.Sleep("2s")
		c.nodeStep()
		c.Sleep("2s")
		if got := c.outcome("web"); !strings.Contains(got, "running=4") || !strings.Contains(got, "InjectionRefused=False Accepted") {
			t.Errorf("outcome\n%s", got)
		}
	})
}

// refuse has the API server refuse to inject into some pods.
func (c *cluster) refuse(some func(pod string) bool) {
	c.FailBefore(func(r fakecluster.Request) error {
		if r.String() == "patch pods/ephemeralcontainers" && some(r.Name) {
			return errPolicy
		}
		return nil
	})
}

// EJ-14: the oldest pod is refused for ever, and holds up no other pod.
func TestOnePodIsRefused(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.addPods("web-a", "web-b", "web-c")
		c.refuse(func(pod string) bool { return pod == "web-a" })
		_, stop := c.start()
		defer stop()
		c.Create(testJob("web"), `{"spec":{"activeDeadlineSeconds":600}}`)
		for range 20 {
			c.Sleep("1s")
			c.nodeStep()
		}
		if got := c.outcome("web"); !strings.Contains(got, "match=3 running=0 succeeded=2") || !strings.Contains(got, "InjectionRefused=True Refused: web-a: ") {
			t.Errorf("outcome\n%s", got)
		}
		c.Sleep("10m")
		if got := c.outcome("web"); !strings.HasPrefix(got, "Failed") || !strings.Contains(got, "DeadlineExceeded") {
			t.Errorf("EJ-18: outcome\n%s", got)
		}
	})
}

// EJ-14: among many pods that are refused, one that is not is found soon, also if only one may be under way.
func TestOnePodIsServed(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.addMany(101)
		c.refuse(func(pod string) bool { return pod != "web-0100" })
		_, stop := c.start()
		defer stop()
		c.Create(testJob("web"), "")
		c.Sleep("70s")
		if got := c.containers(); !strings.HasSuffix(got, "web-0100: debug") || strings.Count(got, "debug") != 1 {
			t.Errorf("containers:\n%s", got)
		}
	})
}

// EJ-9, EJ-14: if pods are refused, others take their places at once, and no more than there are.
func TestOthersTakeThePlacesOfRefusedPods(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.addPods("web-a", "web-b", "web-c", "web-d", "web-e")
		c.refuse(func(pod string) bool { return pod == "web-b" })
		c.Create(testJob("web"), `{"spec":{"parallelism":3}}`)
		c.MustReconcile()
		if got := c.containers(); got != "web-a: debug\nweb-b:\nweb-c: debug\nweb-d: debug\nweb-e:" {
			t.Errorf("containers:\n%s", got)
		}
	})
}

// EJ-14: what is no refusal is tried again, and the status is written meanwhile.
func TestErrors(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.addPods("web-a")
		c.Create(testJob("web"), "")
		c.FailBefore(fixture.Fail("patch pods/ephemeralcontainers", fixture.ErrInternal))
		requests := c.MustFailReconcile(apierrors.IsInternalError)
		if diff := cmp.Diff([]string{"1 patch ephemeraljobs", "1 patch ephemeraljobs/status", "1 patch pods/ephemeralcontainers"}, requests); diff != "" {
			t.Errorf("EJ-22: requests (-want +got):\n%s", diff)
		}
		c.FailBefore(nil)
		c.MustReconcile()
		if got := c.containers(); got != "web-a: debug" || c.Events.Count(eventCreateFailed) > 0 {
			t.Errorf("containers %s, events %v", got, c.Events.All())
		}
	})
}

// EJ-14: an API server without the subresource is told, and not taken for success.
func TestNoSubresource(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.addPods("web-a")
		c.Create(testJob("web"), "")
		c.FailBefore(fixture.Fail("patch pods/ephemeralcontainers", &apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: 404, Reason: metav1.StatusReasonNotFound, Message: "the server could not find the requested resource"}}))
		_, after, err := c.ReconcileOnce()
		if err != nil || after != time.Second || c.Events.Count(eventCreateFailed) != 1 {
			t.Errorf("error %v, again after %s, events %v", err, after, c.Events.All())
		}
	})
}

// EJ-12: another client that injects at the same time keeps what it has injected. A pod that has taken the
// name of another one gets nothing.
func TestOthersInjectToo(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.addPods("web-a", "web-b", "web-c", "web-d")
		inject := func(pod, container string) {
			_, err := c.Kube.CoreV1().Pods(web.Namespace).Patch(t.Context(), pod, types.StrategicMergePatchType,
				[]byte(`{"spec":{"ephemeralContainers":[{"name":"`+container+`","image":"theirs"}]}}`), metav1.PatchOptions{}, "ephemeralcontainers")
			c.Must(err)
		}
		c.Create(testJob("web"), `{"spec":{"parallelism":4}}`)
		c.Hold("pods") // the cache knows nothing of this
		inject("web-b", "theirs")
		inject("web-c", "debug")
		c.ReplacePod("web-d")
		_, _, err := c.ReconcileOnce()
		c.Must(err)
		if diff := cmp.Diff("web-a: debug\nweb-b: debug theirs\nweb-c: debug\nweb-d:", sortNames(c.containers())); diff != "" {
			t.Errorf("containers (-want +got):\n%s", diff)
		}
		if got := c.Events.All(); len(got) != 1 || !strings.Contains(got[0], "web-c") || !strings.Contains(got[0], "may not be changed") {
			t.Errorf("events %v", got)
		}
		c.Release("pods")
		c.Sleep("2s")
		c.MustReconcile()
		if job := c.get("web"); job.Status.Matches != 2 || job.Status.Skipped != 1 {
			t.Errorf("EJ-5: %d matches, %d skipped", job.Status.Matches, job.Status.Skipped)
		}
	})
}

// sortNames sorts the names in each line behind the colon.
func sortNames(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		pod, names, _ := strings.Cut(line, ":")
		all := strings.Fields(names)
		slices.Sort(all)
		lines[i] = strings.TrimSpace(pod + ": " + strings.Join(all, " "))
	}
	return strings.Join(lines, "\n")
}

// EJ-2, EJ-20: finalizers of others, and a conflict about them.
func TestFinalizers(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.Create(testJob("web"), `{"metadata":{"finalizers":["example.com/hold"]}}`)
		finalizers := func() string { return fmt.Sprint(c.get("web").Finalizers) }
		c.Hold("ephemeraljobs")
		c.Edit(`{"metadata":{"finalizers":["example.com/hold","example.com/more"]}}`)
		c.MustFailReconcile(apierrors.IsConflict)
		c.Release("ephemeraljobs")
		c.MustReconcile()
		if got := finalizers(); got != "[example.com/hold example.com/more apps.kruise.io/ephemeralcontainers-cleanup]" {
			t.Errorf("finalizers %s", got)
		}
		c.Edit(`{"metadata":{"finalizers":["example.com/hold"]}}`)
		c.MustReconcile()
		if got := finalizers(); got != "[example.com/hold apps.kruise.io/ephemeralcontainers-cleanup]" {
			t.Errorf("put back: finalizers %s", got)
		}
		c.Delete()
		c.MustReconcile()
		if got := finalizers(); got != "[example.com/hold]" {
			t.Errorf("being deleted: finalizers %s", got)
		}
		c.Edit(`{"metadata":{"finalizers":[]}}`)
		if got := c.outcome("web"); got != "gone" {
			t.Errorf("outcome %s", got)
		}
	})
}

// EJ-1, EJ-19: a finished job is deleted when its time is over, and nothing reopens it.
func TestEnd(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.addPods("web-a")
		_, stop := c.start()
		defer stop()
		c.Create(testJob("web"), `{"spec":{"ttlSecondsAfterFinished":60}}`)
		for range 5 {
			c.Sleep("1s")
			c.nodeStep()
		}
		c.addPods("web-b")
		c.Edit(`{"spec":{"parallelism":7}}`)
		c.Sleep("10s")
		if got := c.outcome("web"); !strings.HasPrefix(got, "Succeeded match=1") || c.containers() != "web-a: debug\nweb-b:" {
			t.Errorf("outcome\n%s\n%s", got, c.containers())
		}
		c.Sleep("1m")
		if got := c.outcome("web"); got != "gone" || c.containers() != "web-a: debug\nweb-b:" {
			t.Errorf("outcome\n%s\n%s", got, c.containers())
		}
		if got := c.Events.All(); len(got) != 1 || !strings.Contains(got[0], eventSucceeded) {
			t.Errorf("EJ-21: events %v", got)
		}
	})
}

// EJ-18: the deadline survives a restart, and needs no event.
func TestDeadlineAfterARestart(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.addPods("web-a")
		c.ends = func(string, string) string { return "running" }
		_, stop := c.start()
		c.Create(testJob("web"), `{"spec":{"activeDeadlineSeconds":60}}`)
		c.Sleep("1s")
		c.nodeStep()
		c.Sleep("5s")
		stop()
		_, stop = c.start()
		defer stop()
		c.Sleep("1m")
		if got := c.outcome("web"); !strings.HasPrefix(got, "Failed match=1 running=1") || !strings.Contains(got, "JobFailed=True DeadlineExceeded") {
			t.Errorf("outcome\n%s", got)
		}
	})
}

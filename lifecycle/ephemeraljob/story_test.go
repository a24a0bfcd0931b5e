// SPDX-License-Identifier: Apache-2.0

package ephemeraljob

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// TestStories plays the stories in testdata: see fixture.PlayStories. "add" creates pods, one a second, and "many" pods of one age. With "nodes" the
// kubelets make a step for every ephemeral container, or n, one a second. "ends" is a step after which containers that run have ended so, as "exit1",
// or have not, as "running". "inject" is what another client does. "refuse-but" has the API server refuse all pods but one, and
// "measured" shows what JobMetrics were told. "shown" lets half a second pass. It shows what the
// controller has written,
// events, and then the ephemeral containers of all pods and the job.
func TestStories(t *testing.T) {
	fixture.PlayStories(t, "testdata/stories", jobResource, func(f *fixture.Cluster) *fixture.Story {
		c, w := newCluster(f), &writes{}
		s := c.Story(func(int32) any { return testJob("web") })
		s.Stable, s.Wrote = true, w.note
		quiet := func(act func(words []string)) func(...string) string {
			return func(words ...string) string { act(words); return "" }
		}
		maps.Copy(s.Further, map[string]func(...string) string{
			"add":  quiet(func(words []string) { c.addPods(words...) }),
			"many": quiet(func(words []string) { n, _ := strconv.Atoi(words[0]); c.addMany(n) }),
			"nodes": quiet(func(words []string) {
				n, _ := strconv.Atoi(append(words, "1")[0])
				for i := range n {
					if i > 0 {
						c.Sleep("1s")
					}
					c.nodeStep()
				}
			}),
			"ends": quiet(func(words []string) {
				c.ends = func(string) string { return words[0] }
				c.nodeStep()
			}),
			"refuse-but": quiet(func(words []string) { c.refuseBut(words[0]) }),
			"shown":      func(...string) string { return c.shown(w) },
			"inject":     c.inject,
			"outcome":    func(...string) string { return c.shortOutcome() },
			"measured":   func(...string) string { return strings.Join(c.measured, "\n") + "\n" },
			"containers": func(...string) string { return sortNames(c.containers()) + "\n" },
			"finalizers": func(...string) string { return fmt.Sprintln(c.get("web").Finalizers) },
		})
		return s
	})
}

// writes are those of the controller.
type writes struct {
	lock  sync.Mutex
	lines []string
}

func (w *writes) note(r fakecluster.Request) {
	line := r.String() + " " + fixture.NameIn(r)
	if r.DryRun {
		line += ", a dry run"
	}
	w.lock.Lock()
	defer w.lock.Unlock()
	w.lines = append(w.lines, line)
}

func (c *cluster) shown(w *writes) string {
	c.Sleep("500ms")
	w.lock.Lock()
	defer w.lock.Unlock()
	lines := append(w.lines, c.Events.All()...)
	w.lines = nil
	c.Events.Forget()
	if len(c.Pods()) > 0 {
		lines = append(lines, sortNames(c.containers()))
	}
	return strings.Join(append(lines, c.outcome("web")), "\n") + "\n"
}

func (c *cluster) inject(words ...string) string {
	_, err := c.Kube.CoreV1().Pods(web.Namespace).Patch(c.T.Context(), words[0], types.StrategicMergePatchType,
		[]byte(`{"spec":{"ephemeralContainers":[{"name":"`+words[1]+`","image":"theirs"}]}}`), metav1.PatchOptions{}, "ephemeralcontainers")
	c.Must(err)
	return ""
}

// shortOutcome is the outcome, of whose results only the first ones are shown.
func (c *cluster) shortOutcome() string {
	lines := strings.Split(c.outcome("web"), "\n")
	if n := len(lines); n > 10 {
		lines = append(lines[:10], fmt.Sprint("and ", n-10, " more"))
	}
	return strings.Join(lines, "\n") + "\n"
}

// addMany creates pods of one age.
func (c *cluster) addMany(n int) {
	c.T.Helper()
	for i := range n {
		pod := podOn("node-1", fmt.Sprintf("web-%04d", i), "web")
		_, err := c.Kube.CoreV1().Pods(web.Namespace).Create(c.T.Context(), pod, metav1.CreateOptions{})
		c.Must(err)
	}
}

// EJ-9, EJ-22: the API server takes 50 ms for a request. The controller injects into 500 pods at more than
// 100 a second, also if a limit has most of them wait for others. Progress does not cost as many writes.
func TestSpeed(t *testing.T) {
	fixture.PlayKind(t, jobResource, newCluster, func(t *testing.T, c *cluster) {
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
		_, stop := c.Run()
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

// refuseBut has the API server refuse to inject into all pods but one.
func (c *cluster) refuseBut(pod string) {
	c.FailBefore(func(r fakecluster.Request) error {
		if r.String() == "patch pods/ephemeralcontainers" && r.Name != pod {
			return fixture.ErrQuota
		}
		return nil
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

// SPDX-License-Identifier: Apache-2.0

package terminator

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// What nodes and API server take at most. A kubelet looks at its containers once per relist. An agent has asked the runtime
// within agentAsks, and a request takes apiTakes. The watch of a kubelet shows it within learnsIn what others write.
const (
	relist    = time.Second
	agentAsks = 100 * time.Millisecond
	apiTakes  = 20 * time.Millisecond
	learnsIn  = time.Second
	killAfter = 5 * time.Second // the grace period of podOf
	tick      = 50 * time.Millisecond
)

var jobCount = flag.Int("jobs", 100, "of how many Jobs TestJobsEndInTime measures how long their pods take")

// The main containers of the Jobs exit within ten seconds, and their sidecars ignore SIGTERM and exit with 137. Of 100 pods 99 end
// within three seconds of the exit of their main container, beyond the grace period. "make test-long" has 1,000. (ST-12, ST-14,
// ST-15)
func TestJobsEndInTime(t *testing.T) {
	for _, policy := range []corev1.RestartPolicy{corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever} {
		t.Run(string(policy), func(t *testing.T) {
			fixture.PlayKind(t, requestResource, newCluster, func(t *testing.T, c *cluster) {
				c.createNodes()
				took := c.run(policy, *jobCount)
				slices.Sort(took)
				most := took[len(took)*99/100-1]
				t.Logf("from the exit of the main container, beyond the grace period: half of them %v, 99 of 100 %v, all %v", took[len(took)/2], most, took[len(took)-1])
				if most > 3*time.Second {
					t.Error("more than 3s")
				}
			})
		})
	}
}

// job is the pod of a Job, and what its node does about it when. Zero times are not known yet.
type job struct {
	pod                            *corev1.Pod
	exits, told, given, knows, end time.Time
	exited                         bool
}

// run returns how long each of n pods took.
func (c *cluster) run(policy corev1.RestartPolicy, n int) (took []time.Duration) {
	c.FailBefore(func(r fakecluster.Request) error {
		if r.User == fixture.ControllerUser && !slices.Contains([]string{"get", "list", "watch"}, r.Verb) {
			time.Sleep(apiTakes) // part of the request
		}
		return nil
	})
	controller, err := New(Options{Kubernetes: c.Client(fixture.ControllerUser), Lifecycle: c.Options.Lifecycle})
	c.Must(err)
	defer c.Start(controller.Run)()
	random := rand.New(rand.NewPCG(1, 1))
	within := func(limit time.Duration) time.Duration { return time.Duration(random.Int64N(int64(limit))) }
	jobs := make([]*job, n)
	for i := range jobs {
		pod := podOf(c.T, string(policy)+" main:running a=r:running")
		pod.ObjectMeta = metav1.ObjectMeta{Namespace: fixture.Web.Namespace, Name: fmt.Sprint("job-", i)}
		status := pod.Status
		pod, err := c.Kube.CoreV1().Pods(pod.Namespace).Create(c.T.Context(), pod, metav1.CreateOptions{})
		c.Must(err)
		pod.Status = status
		_, err = c.Kube.CoreV1().Pods(pod.Namespace).UpdateStatus(c.T.Context(), pod, metav1.UpdateOptions{})
		c.Must(err)
		exits := time.Now().Add(within(10 * time.Second))
		jobs[i] = &job{pod: pod, exits: exits, told: exits.Add(within(relist))}
	}
	for begun := time.Now(); len(jobs) > 0; c.Sleep(tick.String()) {
		if time.Since(begun) > time.Minute {
			c.T.Fatalf("%d pods have not ended", len(jobs))
		}
		jobs = slices.DeleteFunc(jobs, func(j *job) bool {
			over := c.goOn(j, within)
			if over {
				took = append(took, j.given.Sub(j.exits))
			}
			return over
		})
	}
	return took
}

// goOn has the node of a pod do what is due, and tells whether it has ended. The time to stop its sidecar does not count if that came before
// the phase.
func (c *cluster) goOn(j *job, within func(time.Duration) time.Duration) (over bool) {
	name, now := j.pod.Name, time.Now()
	if now.Before(j.told) || now.Before(j.end) {
		return false
	}
	if !j.exited {
		c.exit(name, "main", 0)
		j.exited = true
	}
	stops := func() { j.end = now.Add(within(agentAsks) + killAfter + within(relist)) }
	ended := !j.end.IsZero()
	if ended {
		c.exit(name, "a", 137)
	} else if _, err := c.requests.Get(c.T.Context(), RequestName(j.pod.UID), metav1.GetOptions{}); err == nil {
		stops()
	}
	switch pod := c.pod(name); {
	case !podstate.Ended(pod):
	case j.given.IsZero():
		if j.given, j.knows = now, now.Add(within(learnsIn)+within(relist)); ended {
			j.given = now.Add(-killAfter)
		}
	case !now.Before(j.knows) && j.end.IsZero(): // it stops the sidecar, without a request too
		c.write(name, learn)
		stops()
	}
	return ended && !j.given.IsZero()
}

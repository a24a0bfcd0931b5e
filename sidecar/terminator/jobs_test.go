// SPDX-License-Identifier: Apache-2.0

package terminator

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/lifecycle/client"
)

// What nodes and API server take at most. A kubelet looks at its containers once per relist. An agent has asked the runtime
// within agentAsks, and a request takes apiTakes. The watch of a kubelet shows it within learnsIn what others write.
const (
	relist    = time.Second
	agentAsks = 100 * time.Millisecond
	apiTakes  = 20 * time.Millisecond
	learnsIn  = time.Second
	killAfter = 5 * time.Second // the grace period of podOf
)

var jobCount = flag.Int("jobs", 100, "of how many Jobs TestJobsEndInTime measures how long their pods take")

// The main containers of the Jobs exit within ten seconds, and their sidecars ignore SIGTERM and exit with 137. Of 100 pods 99 end
// within three seconds of the exit of their main container, beyond the grace period. "make test-long" has 1,000. (ST-12, ST-14,
// ST-15)
func TestJobsEndInTime(t *testing.T) {
	for _, policy := range []corev1.RestartPolicy{corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever} {
		t.Run(string(policy), func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				took := newJobs(c).run(policy, *jobCount)
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

// jobs are the pods of Jobs, and their nodes.
type jobs struct {
	*cluster
	mu      sync.Mutex
	random  *rand.Rand
	signals map[string]chan struct{} // by the writes of the controller that they tell of, closed once
}

func newJobs(c *cluster) *jobs {
	j := &jobs{cluster: c, random: rand.New(rand.NewPCG(1, 1)), signals: map[string]chan struct{}{}}
	c.FailAfter(func(r fakecluster.Request) error {
		if r.User == fixture.ControllerUser {
			j.signal(r.String()+" "+fixture.NameIn(r), false)
		}
		return nil
	})
	return j
}

// signal returns the signal of a write that is to come. If none is to come any more, it closes the signal that there is.
func (j *jobs) signal(write string, comes bool) <-chan struct{} {
	j.mu.Lock()
	defer j.mu.Unlock()
	if comes {
		j.signals[write] = make(chan struct{})
	} else if signal := j.signals[write]; signal != nil {
		close(signal)
		delete(j.signals, write)
	}
	return j.signals[write]
}

// run returns how long each of n pods took.
func (j *jobs) run(policy corev1.RestartPolicy, n int) []time.Duration {
	controller, err := New(Options{Kubernetes: connectSlowly(j, kubernetes.NewForConfig), Lifecycle: connectSlowly(j, client.NewForConfig)})
	j.Must(err)
	defer j.Start(controller.Run)()
	took := make([]time.Duration, n)
	var running sync.WaitGroup
	for i := range n {
		pod := podOf(j.T, string(policy)+" main:running a=r:running")
		pod.ObjectMeta = metav1.ObjectMeta{Namespace: fixture.Web.Namespace, Name: fmt.Sprint("job-", i)}
		status := pod.Status
		pod, err := j.Kube.CoreV1().Pods(pod.Namespace).Create(j.T.Context(), pod, metav1.CreateOptions{})
		j.Must(err)
		requested, given := j.signal("create containerrecreaterequests "+RequestName(pod.UID), true), j.signal("patch pods/status "+pod.Name, true)
		pod.Status = status
		_, err = j.Kube.CoreV1().Pods(pod.Namespace).UpdateStatus(j.T.Context(), pod, metav1.UpdateOptions{})
		j.Must(err)
		exits := j.within(10 * time.Second)
		running.Go(func() { took[i] = j.end(pod, exits, requested, given) })
	}
	running.Wait()
	return took
}

// within is a time by chance.
func (j *jobs) within(limit time.Duration) time.Duration {
	j.mu.Lock()
	defer j.mu.Unlock()
	return time.Duration(j.random.Int64N(int64(limit)))
}

// connectSlowly returns a client of the controller whose writes take a while.
func connectSlowly[C any](j *jobs, connect func(*rest.Config) (C, error)) C {
	return fixture.Connect(j.T, j.Server, fixture.ControllerUser, func(config *rest.Config) (C, error) {
		config.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return roundTrip(func(request *http.Request) (*http.Response, error) {
				if request.Method != http.MethodGet {
					time.Sleep(j.within(apiTakes)) // part of the request
				}
				return next.RoundTrip(request)
			})
		})
		return connect(config)
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// end has the main container of a pod exit after a time, and does what its node does then, until its sidecar has ended. It returns
// what the pod took to its phase from there, without the time to stop the sidecar if that came first.
func (j *jobs) end(pod *corev1.Pod, after time.Duration, requested, given <-chan struct{}) (took time.Duration) {
	time.Sleep(after)
	exited := time.Now()
	j.report(pod, func() { end(&pod.Status.ContainerStatuses[0], 0) })
	var learns, stopped <-chan time.Time
	for {
		select {
		case <-given:
			given, took, learns = nil, time.Since(exited), time.After(j.within(learnsIn))
		case <-requested: // the agent stops it
			requested, stopped = nil, cmp.Or(stopped, time.After(j.within(agentAsks)+killAfter))
		case <-learns: // the kubelet does
			j.report(pod, func() { pod.Status.Phase = corev1.PodSucceeded; learn(pod) })
			stopped = cmp.Or(stopped, time.After(killAfter))
		case <-stopped:
			j.report(pod, func() { end(&pod.Status.ContainerStatuses[1], 137) })
			if given != nil {
				<-given
				took = time.Since(exited) - killAfter
			}
			return took
		}
	}
}

// report has the kubelet tell of a change, once it has seen it, and of the final phase that it comes to. The pod is as the
// kubelet knows it.
func (j *jobs) report(pod *corev1.Pod, change func()) {
	time.Sleep(j.within(relist))
	change()
	status := map[string]any{"containerStatuses": pod.Status.ContainerStatuses}
	if pod.Status.Phase = kubeletPhase(pod); podstate.Ended(pod) {
		status["phase"] = pod.Status.Phase
	}
	if learned(pod) {
		status["conditions"] = pod.Status.Conditions
	}
	data, err := json.Marshal(map[string]any{"status": status})
	if err == nil {
		_, err = j.Kube.CoreV1().Pods(pod.Namespace).Patch(j.T.Context(), pod.Name, types.StrategicMergePatchType, data, metav1.PatchOptions{}, "status")
	}
	if err != nil {
		j.T.Error(err)
	}
}

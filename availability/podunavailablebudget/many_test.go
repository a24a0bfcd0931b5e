// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/availability/budget"
	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/internal/testing/fakecluster"
)

// Of 50 pods at least 40 are to be available. Users delete, evict and update them in place, 100 times at once, through
// two replicas of the webhook. A controller and the nodes work meanwhile. Never are less than 40 available, and all
// that users asked for comes to pass. (PUB-14, PUB-25)
func TestManyAtOnce(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				newCrowd(c, seed).run(100)
			})
		})
	}
}

const (
	crowdPods    = 50
	crowdDesired = 40
)

// crowd are users who want pods down, and those who bring them up again.
type crowd struct {
	*cluster
	replicas []*Webhook
	owner    metav1.OwnerReference
	lock     sync.Mutex
	random   *rand.Rand
	fewest   int
	allowed  int
	denied   int
}

func newCrowd(c *cluster, seed uint64) *crowd {
	return &crowd{cluster: c, random: rand.New(rand.NewPCG(seed, 1)), fewest: crowdPods}
}

func (c *crowd) run(n int) {
	c.cloneSet(crowdPods)
	c.owner = c.cluster.owner()
	for i := range crowdPods {
		c.webPods(fmt.Sprint("web-", i))
	}
	c.createBudget(newBudget("web", "20%"))
	_, stop := c.start()
	defer stop()
	c.Sleep("5s")
	c.replicas = []*Webhook{c.webhook(), c.webhook()}
	c.Sleep("1s")
	c.FailAfter(func(r fakecluster.Request) error { // after every write
		if r.Verb != "get" && r.Verb != "list" && r.Verb != "watch" {
			c.count()
		}
		return nil
	})
	c.ForgetRequests()
	var all sync.WaitGroup
	var first sync.WaitGroup
	first.Add(n)
	for i := range n {
		all.Go(func() { c.insist(fmt.Sprint("web-", i%crowdPods), i%3, first.Done) })
	}
	first.Wait()
	requests, decisions := c.Count("controller"), n
	c.T.Logf("the first answers: %d allowed, %d denied; requests %v", c.allowed, c.denied, requests)
	if c.allowed < crowdPods-crowdDesired {
		c.T.Errorf("%d were allowed, and %d may go", c.allowed, crowdPods-crowdDesired)
	}
	if writes := requests["patch podunavailablebudgets/status"]; writes > decisions {
		c.T.Errorf("%d writes for %d answers", writes, decisions)
	}
	all.Wait()
	c.Sleep("1m")
	c.T.Logf("the fewest available: %d; in all %d allowed, %d denied", c.fewest, c.allowed, c.denied)
	if c.fewest < crowdDesired {
		c.T.Errorf("%d were available", c.fewest)
	}
	c.expect("settled", "web", "50 of 50 available, 40 desired, 10 allowed; 50 linked")
}

// insist takes a pod down, and tries again until it may; then the pod comes up again.
func (c *crowd) insist(name string, how int, asked func()) {
	for once := false; ; {
		c.pause(10 * time.Millisecond)
		allowed := c.try(name, how)
		c.lock.Lock()
		if allowed {
			c.allowed++
		} else {
			c.denied++
		}
		c.lock.Unlock()
		if !once {
			once = true
			asked()
		}
		if allowed {
			return
		}
		c.pause(2 * time.Second)
	}
}

func (c *crowd) pause(most time.Duration) {
	c.lock.Lock()
	d := time.Duration(c.random.Int64N(int64(most)))
	c.lock.Unlock()
	time.Sleep(d)
}

// replica is the one that the API server happens to ask.
func (c *crowd) replica() *Webhook {
	c.lock.Lock()
	defer c.lock.Unlock()
	return c.replicas[c.random.IntN(len(c.replicas))]
}

// try does what an API server does about a request of a user.
func (c *crowd) try(name string, how int) bool {
	pods := c.Kube.CoreV1().Pods("default")
	pod, err := pods.Get(c.T.Context(), name, metav1.GetOptions{})
	if err != nil || pod.DeletionTimestamp != nil {
		return false // it is being replaced
	}
	if how == 1 && !budget.Ready(pod) {
		return false // it may be ready by the time the API server evicts it, which no request can make it look at
	}
	var request *admissionv1.AdmissionRequest
	switch how {
	case 0:
		request = deletion(pod, metav1.DeleteOptions{})
	case 1:
		request = eviction(name, nil)
	case 2:
		request = update(pod, "", c.next)
	}
	if !c.replica().ValidatePod(c.T.Context(), request).Allowed {
		return false
	}
	c.pause(20 * time.Millisecond) // other webhooks
	if how == 2 {
		after := pod.DeepCopy()
		c.next(after)
		patch := fmt.Sprintf(`{"metadata":{"resourceVersion":%q},"spec":{"containers":[{"name":"main","image":%q}]}}`, pod.ResourceVersion, after.Spec.Containers[0].Image)
		if _, err := pods.Patch(c.T.Context(), name, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			return false // it has changed meanwhile
		}
		c.pause(3 * time.Second)
		c.serve(name)
		return true
	}
	options := metav1.DeleteOptions{GracePeriodSeconds: new(int64(0)), Preconditions: &metav1.Preconditions{UID: &pod.UID}}
	if how == 0 {
		options.Preconditions.ResourceVersion = &pod.ResourceVersion // what is deleted is what the webhook was shown
	}
	if err := pods.Delete(c.T.Context(), name, options); err != nil {
		return false
	}
	c.pause(3 * time.Second)
	c.create(name)
	time.Sleep(time.Second) // no container is ready earlier, and by then the controller has told the pod of its budget
	c.serve(name)
	return true
}

// create creates a pod in place of one that is gone, as its workload does.
func (c *crowd) create(name string) {
	pod := newPod(name, c.owner)
	if _, err := c.Kube.CoreV1().Pods("default").Create(c.T.Context(), pod, metav1.CreateOptions{}); err != nil {
		c.T.Error(err)
	}
}

func (c *crowd) next(pod *corev1.Pod) { pod.Spec.Containers[0].Image += "1" }

// serve has a pod run what its spec says, and be ready, unless a user has deleted it.
func (c *crowd) serve(name string) {
	for {
		err := c.tryReady(name)
		if err == nil || apierrors.IsNotFound(err) {
			return
		}
		if !apierrors.IsConflict(err) {
			c.T.Error(err)
			return
		}
	}
}

// count notes how many pods serve what their spec says.
func (c *crowd) count() {
	pods, err := c.Server.Pods("default")
	if err != nil {
		c.T.Error(err)
	}
	available := 0
	for i := range pods {
		s := podstate.ContainerStatus(&pods[i], "main")
		if s != nil && s.Ready && s.Image == pods[i].Spec.Containers[0].Image && pods[i].DeletionTimestamp == nil {
			available++
		}
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	c.fewest = min(c.fewest, available)
}

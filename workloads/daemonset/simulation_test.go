// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/fakecluster"
	"github.com/podwright/podwright/internal/fakecluster/fixture"
	"github.com/podwright/podwright/lifecycle"
)

// simulation is a random history.
type simulation struct {
	*cluster
	r        *rand.Rand
	nodes    []string
	happened []string

	lock sync.Mutex
	// gone are nodes whose pod the controller has taken out of service, and that have had no available one since.
	gone   map[string]bool
	served map[types.UID]bool // pods that were available
	broken string
}

const mostUnavailable = 2

func (c *cluster) simulate(seed uint64) {
	s := &simulation{cluster: c, r: rand.New(rand.NewPCG(seed, 4)), nodes: nodeNames(6), gone: map[string]bool{}, served: map[types.UID]bool{}}
	c.addNodes(s.nodes...)
	strategy := []string{"Standard", "InPlaceIfPossible"}[s.r.IntN(2)]
	c.Create(testSet("web"), fmt.Sprintf(`{"spec":{"minReadySeconds":%d,"updateStrategy":{"rollingUpdate":{"rollingUpdateType":%q,"maxUnavailable":%d}}}}`, 5*s.r.IntN(2), strategy, mostUnavailable))
	s.fail(nil, nil)
	_, stop := c.start()
	c.Sleep("1s")
	for range 40 {
		if s.r.IntN(6) == 0 { // the manager dies
			stop()
			s.release() // or the next one might die before its caches are filled
			_, stop = c.start()
			c.Sleep("1s")
			s.note("a new manager")
		}
		s.disturb()
		for range s.r.IntN(4) {
			c.KubeletStep()
			s.look()
			c.Sleep(fmt.Sprint(1000+s.r.IntN(3000), "ms"))
			s.look()
		}
	}
	s.calm()
	c.SetImage("nginx:9")
	c.Edit(`{"spec":{"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"partition":0,"paused":false}}}}`)
	for range 120 {
		c.KubeletStep()
		s.look()
		c.Sleep("3s")
		s.look()
	}
	stop()
	status := c.get().Status
	if pods := c.Pods(); !slices.Equal(nodesOf(pods), s.nodes) || !allRun(pods) || status.NumberAvailable != 6 || status.UpdatedNumberScheduled != 6 {
		c.T.Errorf("it ends as\n%s\nafter %q", c.outcome("web"), s.happened)
	}
}

func (s *simulation) note(what string) { s.happened = append(s.happened, what) }

// look sees what is so, by what the API server has stored. (DS-3, DS-11)
func (s *simulation) look() {
	s.T.Helper()
	s.lock.Lock()
	defer s.lock.Unlock()
	s.see()
	if s.broken != "" {
		s.T.Fatalf("%s, after %q", s.broken, s.happened)
	}
}

// see returns the pods by name.
func (s *simulation) see() map[string]corev1.Pod {
	seconds, alive, pods := s.get().Spec.MinReadySeconds, map[string]int{}, map[string]corev1.Pod{}
	for _, pod := range s.Pods() {
		pods[pod.Name] = pod
		if metav1.GetControllerOf(&pod) == nil || pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodFailed {
			continue
		}
		node := nodeOf(&pod)
		if alive[node]++; alive[node] > 1 {
			s.broken = "DS-3: node " + node + " has several pods"
		}
		if lifecycle.Available(&pod, seconds, time.Now()) {
			s.served[pod.UID] = true
			delete(s.gone, node)
		}
	}
	nodes, err := s.Kube.CoreV1().Nodes().List(s.T.Context(), metav1.ListOptions{})
	s.Must(err)
	for _, node := range nodes.Items {
		if len(node.Spec.Taints) > 0 { // its pod cannot come back
			delete(s.gone, node.Name)
		}
	}
	return pods
}

// wrote takes note of what the controller is about to do.
func (s *simulation) wrote(r fakecluster.Request) {
	inPlace := r.Verb == "patch" && r.Subresource == "" && strings.Contains(string(r.Body), "inplace-update-state")
	if r.User != fixture.ControllerUser || r.Resource != "pods" || r.Verb != "delete" && !inPlace {
		return
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	pod, found := s.see()[r.Name]
	if !found || !s.served[pod.UID] || pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodFailed {
		return
	}
	delete(s.served, pod.UID)
	if s.gone[nodeOf(&pod)] = true; len(s.gone) > mostUnavailable {
		s.broken = fmt.Sprintf("DS-11: the pods of nodes %v are out of service, maxUnavailable is %d", slices.Sorted(maps.Keys(s.gone)), mostUnavailable)
	}
}

// fail has requests fail, or their answers be lost, and watches all of them.
func (s *simulation) fail(before, after func(fakecluster.Request) error) {
	s.FailBefore(func(r fakecluster.Request) error {
		if before != nil {
			if err := before(r); err != nil {
				return err
			}
		}
		s.wrote(r)
		return nil
	})
	s.FailAfter(after)
}

var disturbed = []string{"pods", "daemonsets", "nodes", "controllerrevisions"}

func (s *simulation) release() {
	for _, resource := range disturbed {
		s.Release(resource)
	}
}

func (s *simulation) calm() {
	s.fail(nil, nil)
	s.release()
	for _, node := range s.nodes {
		s.patchNode(node, `{"spec":{"taints":null},"metadata":{"labels":{"zone":"a"}}}`)
	}
	s.Sleep("16m")
}

// disturb does at random what networks, nodes and users do.
func (s *simulation) disturb() {
	resource, node := disturbed[s.r.IntN(len(disturbed))], s.nodes[s.r.IntN(len(s.nodes))]
	fails := func(request fakecluster.Request) error {
		if request.User == fixture.ControllerUser && request.Verb != "list" && request.Verb != "watch" && s.r.IntN(3) == 0 {
			return fixture.ErrLost
		}
		return nil
	}
	pod := ""
	if names := s.PodNames(); len(names) > 0 {
		pod = names[s.r.IntN(len(names))]
	}
	what := ""
	switch s.r.IntN(14) {
	case 0:
		s.Hold(resource)
		what = "the watch of " + resource + " stalls"
	case 1, 2:
		s.Release(resource)
		what = "the watch of " + resource + " goes on"
	case 3:
		s.Drop(resource)
		what = "the watch of " + resource + " breaks"
	case 4:
		s.fail(fails, nil)
		what = "requests fail"
	case 5:
		s.fail(nil, fails)
		what = "answers are lost"
	case 6:
		s.fail(nil, nil)
		what = "requests succeed"
	case 7:
		if pod != "" {
			s.DeletePod(pod)
		}
		what = "pod " + pod + " is deleted"
	case 8:
		if pod != "" {
			s.PatchPod(pod, `{"status":{"phase":"Failed"}}`, "status")
		}
		what = "pod " + pod + " fails"
	case 9:
		s.patchNode(node, `{"spec":{"taints":[{"key":"a","effect":"NoSchedule"}]}}`)
		what = node + " is tainted"
	case 10:
		s.patchNode(node, `{"spec":{"taints":null}}`)
		what = node + " is tainted no more"
	default:
		what = []string{`{"spec":{"updateStrategy":{"rollingUpdate":{"partition":%d}}}}`, `{"spec":{"updateStrategy":{"rollingUpdate":{"paused":%t}}}}`, "image"}[s.r.IntN(3)]
		switch {
		case what == "image":
			what = fmt.Sprintf("nginx:%d", s.r.IntN(4))
			s.SetImage(what)
		case strings.Contains(what, "%d"):
			what = fmt.Sprintf(what, s.r.IntN(5))
			s.Edit(what)
		default:
			what = fmt.Sprintf(what, s.r.IntN(2) == 0)
			s.Edit(what)
		}
	}
	s.note(what)
}

// SPDX-License-Identifier: Apache-2.0

package persistentpodstate

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/distribution/podstate"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/nodefit"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// history is a StatefulSet whose pods are placed, among nodes that come and go. Users change their minds, caches stand still,
// and requests fail.
type history struct {
	*cluster
	random   *rand.Rand
	replicas int
	happened []string
	wrong    []string
}

// playHistory plays a history, which the seed determines, with a controller that may have a bug. It returns what is wrong with
// what came of it.
func playHistory(t *testing.T, seed uint64, bug func(*Plan)) (wrong, happened []string) {
	t.Helper()
	inCluster(t, func(t *testing.T, c *cluster) {
		h := &history{cluster: c, random: rand.New(rand.NewPCG(seed, 1)), replicas: 3}
		states, err := New(c.options)
		c.Must(err)
		controller.KindOf(states).Plan = func(s *Snapshot) *Plan {
			p := NewPlan(s)
			if bug != nil {
				bug(p)
			}
			return p
		}
		defer c.Start(states.Run)()
		c.nodes("a1", "a2", "b1")
		c.web(3, "")
		c.createState(newState("web", requires(host)))
		c.Sleep("1s")
		h.fail(nil)
		for range 40 {
			h.step()
		}
		h.end(states)
		wrong, happened = h.wrong, h.happened
	})
	return wrong, happened
}

// fail has requests of the controller fail; nil for none. Whatever fails, deletions of pods are looked at. (PPS-19, PPS-20)
func (h *history) fail(fail func(fakecluster.Request) error) {
	h.FailBefore(func(r fakecluster.Request) error {
		if r.User == fixture.ControllerUser && r.String() == "delete pods" {
			pods, err := h.Server.Pods("default")
			h.Must(err)
			i := slices.IndexFunc(pods, func(pod corev1.Pod) bool { return pod.Name == r.Name })
			// It may have found a node since it was observed: then the API server refuses the deletion.
			if i >= 0 && pods[i].Spec.NodeName != "" && !strings.Contains(string(r.Body), `"resourceVersion"`) {
				h.wrong = append(h.wrong, "a pod that runs is deleted: "+r.Name)
			}
		}
		if fail != nil {
			return fail(r)
		}
		return nil
	})
}

// step does something at random, and then what a StatefulSet and a scheduler do, perhaps.
func (h *history) step() {
	what := h.something()
	h.happened = append(h.happened, what)
	if h.random.IntN(3) > 0 {
		h.workload()
	}
	if h.random.IntN(3) > 0 {
		h.schedule()
	}
	h.Sleep(fmt.Sprint(h.random.IntN(20000), "ms"))
}

func (h *history) something() string {
	resource := watched[h.random.IntN(len(watched))]
	node := []string{"a1", "a2", "b1", "b2", "c1"}[h.random.IntN(5)]
	switch h.random.IntN(10) {
	case 0:
		h.replicas = h.random.IntN(5)
		h.edit(webPath, "web", fmt.Sprintf(`{"spec":{"replicas":%d}}`, h.replicas))
		return fmt.Sprintf("scaled to %d", h.replicas)
	case 1, 2, 3:
		if slices.ContainsFunc(h.allNodes(), func(n *corev1.Node) bool { return n.Name == node }) {
			h.loseNode(node)
			return "node " + node + " goes"
		}
		h.nodes(node)
		return "node " + node + " comes"
	case 4, 5:
		if pods := h.Pods(); len(pods) > 0 {
			pod := pods[h.random.IntN(len(pods))]
			h.removePod(pod.Name)
			if h.random.IntN(2) == 0 || pod.Spec.NodeName == "" {
				return "pod " + pod.Name + " is deleted"
			}
			h.workload() // it is sent to its node, which goes before it comes
			h.loseNode(pod.Spec.NodeName)
			return "pod " + pod.Name + " is deleted, and then its node " + pod.Spec.NodeName
		}
	case 6:
		h.Hold(resource)
		return "the watch of " + resource + " stalls"
	case 7:
		h.Release(resource)
		return "the watch of " + resource + " goes on"
	case 8:
		h.fail(fixture.Sometimes(h.random.Uint64()))
		return "requests fail"
	case 9:
		key := []string{host, zone}[h.random.IntN(2)]
		_, err := h.states.PersistentPodStates("default").Patch(h.T.Context(), "web", types.MergePatchType,
			[]byte(`{"spec":{"requiredPersistentTopology":{"nodeTopologyKeys":["`+key+`"]}}}`), metav1.PatchOptions{})
		h.Must(err)
		synctest.Wait()
		return "required is " + key
	}
	return "nothing"
}

// workload creates the pods that are missing, and deletes those that are left over.
func (h *history) workload() {
	owner := h.owner(webPath, "web")
	there := h.PodNames()
	for i := range h.replicas {
		if name := fmt.Sprintf("web-%d", i); !slices.Contains(there, name) {
			placed := h.create(name, owner)
			h.happened = append(h.happened, fmt.Sprintf("%s is placed by %v, %s", name, placed.Required, placed.Reason))
		}
	}
	for i := h.replicas; i < 5; i++ {
		if name := fmt.Sprintf("web-%d", i); slices.Contains(there, name) {
			h.removePod(name)
		}
	}
}

// end has everything work again, and looks what has become of it.
func (h *history) end(states Controller) {
	h.fail(nil)
	for _, resource := range watched {
		h.Release(resource)
	}
	for range 60 { // for ten minutes, the longest back-off twice
		h.workload()
		h.schedule()
		h.Sleep("10s")
	}
	pods := h.Pods()
	if len(pods) != h.replicas {
		h.wrong = append(h.wrong, fmt.Sprintf("%d pods of %d", len(pods), h.replicas))
	}
	nodes := h.allNodes()
	for i := range pods {
		bare := pods[i].Spec.DeepCopy()
		bare.NodeSelector, bare.NodeName = nil, ""
		could := slices.ContainsFunc(nodes, func(n *corev1.Node) bool { return nodefit.New(bare).Check(n) == "" })
		if pods[i].Spec.NodeName == "" && could {
			h.wrong = append(h.wrong, fmt.Sprintf("PPS-19: %s waits for %v", pods[i].Name, pods[i].Spec.NodeSelector))
		}
	}
	snapshot, err := states.Snapshot(h.T.Context(), types.NamespacedName{Namespace: "default", Name: "web"})
	h.Must(err)
	computed := podstate.Compute(podstate.Input{State: snapshot.State, Workload: snapshot.Workload, Pods: snapshot.Pods, Nodes: podstate.NewNodes(snapshot.Nodes), Now: snapshot.Now})
	if !podstate.Equal(&computed.Status, &h.state("web").Status) {
		h.wrong = append(h.wrong, "PPS-25: the status is "+h.show("web"))
	}
	h.ForgetRequests()
	h.Sleep("1h")
	if sent := h.Sent(); len(sent) > 0 {
		h.wrong = append(h.wrong, fmt.Sprintf("PPS-9: an hour of nothing takes %v", sent))
	}
}

// TestHistories plays random histories: whatever happens, pods end up on nodes, and the status says so.
func TestHistories(t *testing.T) {
	for seed := range uint64(30) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			if wrong, happened := playHistory(t, seed, nil); len(wrong) > 0 {
				t.Errorf("%s\n\n%s", strings.Join(wrong, "\n"), strings.Join(happened, "\n"))
			}
		})
	}
}

// TestHistoriesFindBugs plants bugs in the controller: some history shows each of them.
func TestHistoriesFindBugs(t *testing.T) {
	for name, bug := range map[string]func(*Plan){
		"PPS-19: pods that wait for nodes that are gone stay": func(p *Plan) { p.Replace = nil },
		"PPS-9: the status changes again and again": func(p *Plan) {
			if p.Record != nil {
				p.Status, p.RequeueAfter = p.Record.Status.DeepCopy(), 1e9
				p.Status.ObservedGeneration ^= 1
			}
		},
		"PPS-25: a state that is new is not recorded": func(p *Plan) {
			if p.Status != nil && len(p.Record.Recorded) > 0 {
				p.Status = nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(30) {
				if wrong, _ := playHistory(t, seed, bug); len(wrong) > 0 {
					t.Logf("seed %d: %s", seed, wrong[0])
					return
				}
			}
			t.Error("no history shows it")
		})
	}
}

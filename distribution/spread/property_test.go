// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/lifecycle/readiness"
)

// tick is how far the clock of a model goes in a step.
const tick = 250 * time.Millisecond

// model plays a Deployment whose pods a controller and several webhooks spread. Each webhook has a
// cache that is behind, and reservations of its own. Pods are replaced, never changed, so that what
// was once seen stays.
type model struct {
	t        *testing.T
	random   *rand.Rand
	ws       *v1alpha1.WorkloadSpread
	now      time.Time
	wants    int32
	latest   string
	pods     []*corev1.Pod
	history  [][]*corev1.Pod // what the caches saw, by step
	webhooks [][]Reservation
	made     int
	ready    map[string]time.Time // when pods will be
	surge    int
	moved    int // pods that were deleted as misplaced
	lag      int // steps by which a cache is behind at most
}

func newModel(t *testing.T, seed uint64, spec string, wants int32, webhooks, lag int) *model {
	return &model{t: t, random: rand.New(rand.NewPCG(seed, 0)), ws: spreadOf(t, spec), now: now, wants: wants, latest: "1",
		webhooks: make([][]Reservation, webhooks), ready: map[string]time.Time{}, surge: int(wants) / 4, lag: lag}
}

func (m *model) workload() *Workload {
	w := deployment(m.wants)
	w.Revision = m.latest
	return w
}

// of returns the active pods of the latest revision, or those of old ones.
func (m *model) of(latest bool) []*corev1.Pod {
	return slices.DeleteFunc(slices.Clone(m.pods), func(pod *corev1.Pod) bool {
		return !podstate.Active(pod) || (revisionOf(pod) == m.latest) != latest
	})
}

// create creates pods, all at the same time: no webhook sees another's.
func (m *model) create(n int) {
	had := int32(len(m.of(true)) + n)
	for range n {
		replica := m.random.IntN(len(m.webhooks))
		m.made++
		name := fmt.Sprint("p", m.made)
		in := Input{Pod: unnamed(revision(m.latest)), Spread: m.ws, Workload: m.workload(), OwnerWants: &had, Reservations: m.webhooks[replica], Key: "k" + name, Now: m.now}
		var result *Result
		for behind := m.random.IntN(m.lag + 1); behind >= 0; behind-- {
			in.Pods = m.history[max(0, len(m.history)-1-behind)]
			var err error
			if result, err = Inject(in); err != nil {
				m.t.Fatal(err)
			}
			if !result.Beyond {
				break
			}
		}
		m.webhooks[replica] = append(m.webhooks[replica], result.Reservation)
		pod := result.Pod.DeepCopy()
		pod.Name, pod.UID, pod.CreationTimestamp = name, "uid", metav1.NewTime(m.now)
		pod.Status.Phase = corev1.PodPending
		m.pods = append(m.pods, pod)
		m.ready[name] = m.now.Add(8*tick + time.Duration(m.random.IntN(20))*tick)
	}
}

// remove begins to delete a pod, or ends what was begun.
func (m *model) remove(pod *corev1.Pod) {
	at := slices.Index(m.pods, pod)
	gone := pod.DeepCopy()
	gone.DeletionTimestamp = new(metav1.NewTime(m.now))
	m.pods[at] = gone
}

// step lets every party act once: the kubelets, the Deployment and its ReplicaSets, the controller.
func (m *model) step() {
	m.now = m.now.Add(tick)
	m.pods = slices.DeleteFunc(m.pods, func(pod *corev1.Pod) bool { return pod.DeletionTimestamp != nil && m.random.IntN(4) == 0 })
	for i, pod := range m.pods {
		if podstate.Active(pod) && pod.Status.Phase == corev1.PodPending && !m.now.Before(m.ready[pod.Name]) {
			runs := pod.DeepCopy()
			runs.Spec.NodeName = "node"
			runs.Status = corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(m.now)}}}
			m.pods[i] = runs
		}
	}
	m.history = append(m.history, slices.Clone(m.pods))
	for i := range m.webhooks {
		seen := Seen(m.webhooks[i], m.history[max(0, len(m.history)-1-m.lag)])
		m.webhooks[i] = slices.DeleteFunc(m.webhooks[i], func(r Reservation) bool { return seen[r.Key] || r.Expired(m.now) })
	}
	m.deploy()
	m.control()
	m.check()
}

// deploy does what a Deployment with maxSurge and no maxUnavailable does in a step.
func (m *model) deploy() {
	latest, old := m.of(true), m.of(false)
	room := int(m.wants) - len(latest)
	if len(old) > 0 {
		room = min(room, int(m.wants)+m.surge-len(latest)-len(old))
	}
	if room > 0 {
		m.create(room)
		return
	}
	if room < 0 {
		m.scaleIn(latest, -room)
		return
	}
	ready := 0
	for _, pod := range slices.Concat(latest, old) {
		if readiness.Ready(pod) {
			ready++
		}
	}
	m.scaleIn(old, min(len(old), ready-int(m.wants)))
}

// scaleIn deletes pods as a ReplicaSet chooses them.
func (m *model) scaleIn(pods []*corev1.Pod, n int) {
	if n <= 0 {
		return
	}
	slices.SortStableFunc(pods, func(a, b *corev1.Pod) int {
		costA, _ := costOf(a)
		costB, _ := costOf(b)
		return cmp.Or(yes(a.Spec.NodeName != "")-yes(b.Spec.NodeName != ""), rankOf(a.Status.Phase)-rankOf(b.Status.Phase),
			yes(readiness.Ready(a))-yes(readiness.Ready(b)), cmp.Compare(costA, costB))
	})
	for _, pod := range pods[:n] {
		m.remove(pod)
	}
}

// control does what the controller does in a step. What it reads is as it was a step before.
func (m *model) control() {
	computed := Compute(State{Spread: m.ws, Workload: m.workload(), Pods: m.history[max(0, len(m.history)-2)], Now: m.now})
	for _, c := range computed.Costs {
		m.replace(c.Pod.Name, func(pod *corev1.Pod) {
			pod.Annotations[corev1.PodDeletionCost] = strconv.Itoa(int(c.Cost))
		})
	}
	for _, d := range computed.Deletions {
		for _, pod := range m.pods {
			if pod.Name == d.Pod.Name && podstate.Active(pod) {
				m.moved++
				m.remove(pod)
				break
			}
		}
	}
	m.ws.Status = computed.Status
}

func (m *model) replace(name string, change func(*corev1.Pod)) {
	for i, pod := range m.pods {
		if pod.Name == name {
			m.pods[i] = pod.DeepCopy()
			change(m.pods[i])
		}
	}
}

// counts returns how many active pods each subset has, and what its share is of what is wanted.
func (m *model) counts() (has, shares []int) {
	members := newMembers(m.ws)
	tallies := make([]tally, len(m.ws.Spec.Subsets))
	has = make([]int, len(tallies))
	for i := range tallies {
		tallies[i] = tally{open: true, limit: limit(&m.ws.Spec.Subsets[i], m.wants)}
	}
	for _, pod := range m.pods {
		if i := members.subset(pod); podstate.Active(pod) && i >= 0 {
			has[i]++
		}
	}
	share(tallies, m.wants)
	for i := range tallies {
		shares = append(shares, int(tallies[i].share))
	}
	return has, shares
}

// deviation is how many pods the subsets lack.
func (m *model) deviation() (missed int) {
	has, shares := m.counts()
	for i := range has {
		missed += max(shares[i]-has[i], 0)
	}
	return missed
}

// check checks what holds all the time: no more pods are missed than come, go, or were moving a moment
// ago. (WS-19)
func (m *model) check() {
	moving := 0
	for _, pod := range m.pods {
		if !podstate.Active(pod) || pod.Status.Phase == corev1.PodPending || revisionOf(pod) != m.latest {
			moving++
		}
	}
	if missing := int(m.wants) - len(m.of(true)); missing > 0 {
		moving += missing
	}
	if d := m.deviation(); d > moving {
		m.t.Fatalf("%d pods are missed, and only %d move", d, moving)
	}
}

// settled plays until nothing moves, and checks that the subsets have their shares.
func (m *model) settled(what string) {
	m.t.Helper()
	for range 400 {
		m.step()
		still := len(m.pods) == int(m.wants) && !slices.ContainsFunc(m.pods, func(pod *corev1.Pod) bool { return !readiness.Ready(pod) || revisionOf(pod) != m.latest })
		if still && len(Compute(State{Spread: m.ws, Workload: m.workload(), Pods: m.pods, Now: m.now}).Costs) == 0 {
			if has, shares := m.counts(); !slices.Equal(has, shares) {
				m.t.Fatalf("%s: the subsets have %v, want %v", what, has, shares)
			}
			return
		}
	}
	m.t.Fatalf("%s: it does not settle: %v", what, m.pods)
}

var specs = map[string]string{
	"numbers":     "subsets: [{name: a, maxReplicas: 30}, {name: b, maxReplicas: 30}, {name: c}]",
	"percentages": "subsets: [{name: a, maxReplicas: 33%}, {name: b, maxReplicas: 33%}, {name: c}]",
}

// A hundred pods are in three subsets. In the course of the test 200 are deleted, with two
// rolling updates that create before they delete. When all is settled every subset has its share.
// (WS-8, WS-15, WS-16, WS-19)
func TestDrift(t *testing.T) {
	for name, spec := range specs {
		for _, webhooks := range []int{1, 2} {
			moved := 0
			for seed := range uint64(2) {
				t.Run(fmt.Sprintf("%s/%d webhooks/%d", name, webhooks, seed), func(t *testing.T) {
					m := newModel(t, seed, spec, 100, webhooks, 2)
					m.settled("creation")
					for round := range 20 {
						for range 10 {
							if active := slices.Concat(m.of(true), m.of(false)); len(active) > 0 {
								m.remove(active[m.random.IntN(len(active))])
							}
							m.step()
						}
						if round%10 == 4 {
							m.latest = strconv.Itoa(round)
						}
					}
					m.settled("deletions and updates")
					m.latest = "last"
					m.settled("an update")
					moved += m.moved
				})
			}
			if webhooks > 1 && moved == 0 {
				t.Errorf("%s: no pod was misplaced ever: the model does not try hard enough", name)
			}
		}
	}
}

// Percentages are kept by a Deployment and a CloneSet that are scaled in from 100 to 9 at once, with
// what pods cost at 100. (WS-16)
func TestScaleIn(t *testing.T) {
	for _, kind := range []string{"Deployment", "CloneSet"} {
		for _, to := range []int{9, 1, 50, 98} {
			m := newModel(t, 1, specs["percentages"], 100, 1, 0)
			m.settled("creation")
			if kind == "Deployment" {
				m.scaleIn(m.of(true), 100-to)
			} else {
				for _, pod := range rollout.SortForDeletion(m.of(true), rollout.DeletionOptions{Available: readiness.Ready})[:100-to] {
					m.remove(pod)
				}
			}
			has, _ := m.counts()
			if skew := slices.Max(has) - slices.Min(has); skew > 1 {
				t.Errorf("%s scaled in to %d: %v, want a skew of at most 1", kind, to, has)
			}
		}
	}
	m := newModel(t, 1, specs["numbers"], 100, 1, 0)
	m.settled("creation")
	m.wants = 35
	m.settled("scaled in with numbers") // WS-15: the first subsets stay full
}

// What is settled costs nothing, and what goes costs the others at most one write. (WS-16)
func TestCostsSettle(t *testing.T) {
	m := newModel(t, 1, specs["percentages"], 100, 1, 0)
	m.settled("creation")
	m.remove(m.pods[17])
	m.pods = slices.DeleteFunc(m.pods, func(pod *corev1.Pod) bool { return pod.DeletionTimestamp != nil })
	if costs := Compute(State{Spread: m.ws, Workload: m.workload(), Pods: m.pods, Now: m.now}).Costs; len(costs) > 1 {
		t.Errorf("%d costs are written when a pod goes, want at most 1", len(costs))
	}
}

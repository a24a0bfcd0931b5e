// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/lifecycle/readiness"
)

// TestPlanKeepsItsPromises changes a DaemonSet, its pods and the nodes at random and checks
// every plan on the way. When nobody interferes any more, every node must come to have one
// available pod of the present template. (DS-3, DS-5, DS-11, DS-14)
func TestPlanKeepsItsPromises(t *testing.T) {
	seeds := uint64(300)
	if testing.Short() {
		seeds = 50
	}
	for seed := range seeds {
		if broken := history(t, seed, nil); broken != "" {
			t.Fatalf("seed %d: %s", seed, broken)
		}
	}
}

// TestPlantedBugs: the judge finds plans that break their promises.
func TestPlantedBugs(t *testing.T) {
	for name, plant := range map[string]func(*Snapshot, *Plan){
		"old pods that are not available are replaced beside the limit": func(s *Snapshot, plan *Plan) {
			deleted := map[types.UID]bool{}
			for _, d := range plan.Delete {
				deleted[d.Pod.UID] = true
			}
			for _, pod := range s.Pods {
				old := pod.Labels[podplan.RevisionLabel] != plan.hash()
				if old && pod.DeletionTimestamp == nil && !deleted[pod.UID] && !available(s, pod) && plan.Rollout.MaxUnavailable > 0 {
					plan.Delete = append(plan.Delete, rollout.PodDeletion{Pod: pod, For: rollout.DeleteForUpdate})
				}
			}
		},
		"one more than the limit": func(s *Snapshot, plan *Plan) {
			for _, pod := range s.Pods {
				if pod.Labels[podplan.RevisionLabel] != plan.hash() && available(s, pod) && plan.Rollout.MaxUnavailable > 0 && len(plan.Delete) == 0 {
					plan.Delete = append(plan.Delete, rollout.PodDeletion{Pod: pod, For: rollout.DeleteForUpdate})
				}
			}
		},
		"the partition does not hold for pods that are created": func(s *Snapshot, plan *Plan) {
			for i := range plan.Create {
				plan.Create[i].Pod = plan.Create[i].Pod.DeepCopy()
				plan.Create[i].Pod.Labels[podplan.RevisionLabel] = plan.hash()
			}
		},
		"nobody looks again": func(_ *Snapshot, plan *Plan) { plan.RequeueAfter = 0 },
		"a pod on a node that fits no more": func(_ *Snapshot, plan *Plan) {
			plan.Delete = slices.DeleteFunc(plan.Delete, func(d rollout.PodDeletion) bool { return d.For == rollout.DeleteForScale })
		},
		"two pods on a node": func(_ *Snapshot, plan *Plan) {
			if len(plan.Create) == 1 {
				twin := plan.Create[0].Pod.DeepCopy()
				twin.Name += "-2"
				plan.Create = append(plan.Create, rollout.PodCreation{Pod: twin})
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(200) {
				if history(t, seed, plant) != "" {
					return
				}
			}
			t.Error("nobody finds it")
		})
	}
}

func (p *Plan) hash() string {
	if p.Revisions.Update == nil {
		return ""
	}
	return p.Revisions.Update.Name[strings.LastIndexByte(p.Revisions.Update.Name, '-')+1:]
}

func available(s *Snapshot, pod *corev1.Pod) bool {
	w := &setScenario{set: s.Set}
	w.Cluster = newScenario(nil).Cluster
	w.Now = s.Now
	return w.available(pod)
}

// history plays a history, and returns what was wrong in it.
func history(t *testing.T, seed uint64, plant func(*Snapshot, *Plan)) (broken string) {
	r := rand.New(rand.NewPCG(seed, 3))
	w := newScenario(t)
	w.judge, w.plant = &judge{w: w, served: map[types.UID]bool{}, disrupted: map[string]bool{}}, plant
	for i := range 3 + r.IntN(6) {
		w.nodes = append(w.nodes, newNode(fmt.Sprintf("n%d", i)))
	}
	w.Spec(fmt.Sprintf("maxUnavailable=%d", 1+r.IntN(3)), fmt.Sprintf("minReadySeconds=%d", 10*r.IntN(2)))
	w.reconcile()
	for step := range 60 {
		what := w.interfere(r)
		w.judge.happened = append(w.judge.happened, what)
		w.reconcile()
		if len(w.judge.broken) > 0 {
			return fmt.Sprintf("step %d: %s\nafter %s", step, strings.Join(w.judge.broken, "; "), strings.Join(w.judge.happened, ", "))
		}
	}
	if wrong := w.converge(); wrong != "" {
		return fmt.Sprintf("%s\nafter %s", wrong, strings.Join(w.judge.happened, ", "))
	}
	return strings.Join(w.judge.broken, "; ")
}

func (w *setScenario) reconcile() bool {
	w.judge.observe()
	acted := w.Reconcile(&strings.Builder{})
	w.judge.observe()
	return acted
}

// interfere does what users, kubelets and nodes do, and returns what.
func (w *setScenario) interfere(r *rand.Rand) string {
	node := w.nodes[r.IntN(len(w.nodes))].Name
	pod := ""
	if len(w.Pods) > 0 {
		pod = w.Pods[r.IntN(len(w.Pods))].Name
	}
	switch what := r.IntN(20); what {
	case 0, 1, 2, 3, 4, 5:
		w.Now = w.Now.Add(2 * time.Second) // nothing starts in no time
		w.Kubelets()
		return "kubelets"
	case 6, 7:
		w.Now = w.Now.Add(time.Duration(1+r.IntN(15)) * time.Second)
		return "clock"
	case 8:
		w.Break(pod, true)
		return "break " + pod
	case 9:
		w.Break(pod, false)
		return "mend " + pod
	case 10: // all kubelets restart: no pod is ready for a moment
		for _, pod := range slices.Clone(w.Pods) {
			if pod.Status.Phase == corev1.PodRunning {
				w.Break(pod.Name, true)
				w.Break(pod.Name, false)
			}
		}
		return "kubelets restart"
	case 11:
		w.Remove(pod)
		return "delete " + pod
	case 12:
		w.Edit(pod, func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed })
		return "fail " + pod
	case 13:
		effect := []corev1.TaintEffect{"", "", corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute}[r.IntN(4)]
		w.taint(node, effect)
		return fmt.Sprint("taint ", node, effect)
	case 14:
		w.node(node).Labels["zone"] = []string{"a", "a", "b"}[r.IntN(3)]
		return "relabel " + node
	case 15:
		if len(w.nodes) > 2 && r.IntN(2) == 0 {
			w.removeNode(node)
			for _, p := range slices.Clone(w.Pods) { // the garbage collector of pods
				if p.Spec.NodeName == node {
					w.Gone(p.Name)
				}
			}
			return "gone " + node
		}
		if len(w.nodes) < 12 {
			name := fmt.Sprintf("m%d", r.IntN(1000))
			if w.node(name) == nil {
				w.nodes = append(w.nodes, newNode(name))
			}
			return "join " + name
		}
	default:
		return w.interfereSpec(r)
	}
	return "nothing"
}

func (w *setScenario) interfereSpec(r *rand.Rand) string {
	change := ""
	switch r.IntN(10) {
	case 0, 1, 2:
		change = fmt.Sprintf("image=nginx:%d", r.IntN(5))
	case 3:
		change = "image=bad:1"
	case 4:
		change = fmt.Sprintf("maxUnavailable=%d", 1+r.IntN(4))
	case 5:
		change = fmt.Sprintf("partition=%d", r.IntN(6))
	case 6:
		change = []string{"rollingUpdateType=InPlaceIfPossible", "rollingUpdateType=Standard"}[r.IntN(2)]
	case 7:
		change = []string{"zone=a", "zone="}[r.IntN(2)]
	case 8:
		change = []string{"type=OnDelete", "type=RollingUpdate", "paused=true", "paused=false"}[r.IntN(4)]
	case 9:
		change = fmt.Sprintf("maxSurge=%d", 1+r.IntN(2))
		if w.set.Spec.UpdateStrategy.RollingUpdate.Type != "" && w.set.Spec.UpdateStrategy.RollingUpdate.Type != "Standard" {
			return "nothing"
		}
	}
	if strings.HasPrefix(change, "rollingUpdateType=In") {
		w.Spec(change, "maxUnavailable=2")
		return change
	}
	w.Spec(change)
	return change
}

// converge lets nobody interfere any more, and says what is wrong in the end. It
// reconciles only where something has changed, or the plan asked for it.
func (w *setScenario) converge() string {
	for _, node := range w.nodes {
		node.Spec.Taints, node.Labels["zone"] = nil, "a"
	}
	for _, pod := range w.Pods { // pods that are recreated are other pods
		w.Break(pod.Name, w.broken(pod) && w.set.Spec.UpdateStrategy.RollingUpdate.Type != "InPlaceIfPossible")
	}
	w.Spec("image=good:1", "partition=0", "paused=false", "type=RollingUpdate", "minReadySeconds=10")
	for range 400 {
		before := slices.Clone(w.Pods)
		w.Now = w.Now.Add(2 * time.Second)
		w.Kubelets()
		changed := !slices.EqualFunc(before, w.Pods, func(a, b *corev1.Pod) bool { return a.UID == b.UID && equality.Semantic.DeepEqual(a.Status, b.Status) })
		plan := NewPlan(w.snapshot())
		if w.plant != nil {
			w.plant(w.snapshot(), plan)
		}
		if !w.reconcile() && !changed {
			if plan.RequeueAfter == 0 {
				break
			}
			w.Now = w.Now.Add(plan.RequeueAfter)
		}
		if len(w.judge.broken) > 0 {
			return strings.Join(w.judge.broken, "; ")
		}
	}
	on := map[string]int{}
	for _, pod := range w.Pods {
		on[nodeOf(pod)]++
		if pod.Spec.Containers[0].Image != "good:1" || !w.available(pod) {
			return fmt.Sprintf("in the end pod %s on %s runs %s, and is available: %t", pod.Name, nodeOf(pod), pod.Spec.Containers[0].Image, w.available(pod))
		}
	}
	for _, node := range w.nodes {
		if on[node.Name] != 1 {
			return fmt.Sprintf("in the end node %s has %d pods", node.Name, on[node.Name])
		}
	}
	s := &w.set.Status
	if n := int32(len(w.nodes)); s.DesiredNumberScheduled != n || s.NumberAvailable != n || s.UpdatedNumberScheduled != n || !strings.HasSuffix(s.CurrentRevision, s.DaemonSetHash) {
		return "in the end the status is " + showStatus(s)
	}
	return ""
}

// broken tells whether the containers of a pod do not work.
func (w *setScenario) broken(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodRunning && !readiness.Ready(pod)
}

// judge checks plans by what it has seen of the pods, not by what the planner computes.
type judge struct {
	w         *setScenario
	served    map[types.UID]bool // pods that have been available
	disrupted map[string]bool    // nodes whose pod an update has taken out of service, and that have had no available one since
	broken    []string
	happened  []string
}

// observe sees which pods are available.
func (j *judge) observe() {
	for _, pod := range j.w.Pods {
		if j.w.available(pod) {
			j.served[pod.UID] = true
			delete(j.disrupted, nodeOf(pod))
		}
	}
	maps.DeleteFunc(j.disrupted, func(node string, _ bool) bool {
		n := j.w.node(node)
		return n == nil || n.Spec.Taints != nil || j.w.set.Spec.Template.Spec.NodeSelector["zone"] != "" && n.Labels["zone"] != "a"
	})
}

func (j *judge) wrong(format string, args ...any) {
	j.broken = append(j.broken, fmt.Sprintf(format, args...))
}

// plan checks a plan.
func (j *judge) plan(s *Snapshot, plan *Plan) {
	if again := NewPlan(s); j.w.plant == nil && again.String() != plan.String() {
		j.wrong("the same snapshot gives another plan")
	}
	j.creations(s, plan)
	before := len(j.disrupted)
	for _, d := range plan.Delete {
		if d.For == rollout.DeleteForUpdate || d.For == rollout.DeleteForScale && j.w.node(nodeOf(d.Pod)) != nil && available(s, d.Pod) {
			j.outOfService(s, plan, d.Pod, d.For)
		}
	}
	for _, p := range plan.Patch {
		if p.Kind == rollout.PatchUpdateInPlace {
			j.outOfService(s, plan, p.Pod, rollout.DeleteForUpdate)
			delete(j.served, p.Pod.UID)
		}
	}
	limit := 0
	if m := s.Set.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable; m != nil {
		limit = int(m.IntVal)
	}
	if now := len(j.disrupted); now > before && now > limit {
		j.wrong("DS-11: the update has %d pods out of service, %v, maxUnavailable is %d", now, slices.Sorted(maps.Keys(j.disrupted)), limit)
	}
}

// outOfService takes note that a pod is taken out of service that others miss.
func (j *judge) outOfService(s *Snapshot, plan *Plan, pod *corev1.Pod, why rollout.DeletionReason) {
	node := nodeOf(pod)
	n := j.w.node(node)
	other := slices.ContainsFunc(s.Pods, func(p *corev1.Pod) bool {
		return p.UID != pod.UID && nodeOf(p) == node && available(s, p) && !slices.ContainsFunc(plan.Delete, func(d rollout.PodDeletion) bool { return d.Pod.UID == p.UID })
	})
	fits := n != nil && n.Spec.Taints == nil && (s.Set.Spec.Template.Spec.NodeSelector["zone"] == "" || n.Labels["zone"] == "a")
	switch {
	case other || !fits || !j.served[pod.UID]:
	case why == rollout.DeleteForScale:
		j.wrong("DS-4: pod %s on %s is deleted, which was the only one available there", pod.Name, node)
	case s.Set.Spec.UpdateStrategy.RollingUpdate.MaxSurge != nil && !available(s, pod): // the old pod of a surging update goes where it is not ready (DS-14)
	default:
		j.disrupted[node] = true
	}
}

// creations checks that no node gets a pod too many, or one of a revision that it must not have.
func (j *judge) creations(s *Snapshot, plan *Plan) {
	there, updated := map[string]int{}, map[string]bool{}
	for _, pod := range s.Pods {
		ended := pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
		if pod.DeletionTimestamp == nil && !ended {
			there[nodeOf(pod)]++
			n := j.w.node(nodeOf(pod))
			if n != nil && n.Spec.Taints == nil && pod.Labels[podplan.RevisionLabel] == plan.hash() && (s.Set.Spec.Template.Spec.NodeSelector["zone"] == "" || n.Labels["zone"] == "a") {
				updated[nodeOf(pod)] = true
			}
		}
	}
	most := 1
	if s.Set.Spec.UpdateStrategy.RollingUpdate.MaxSurge != nil {
		most = 2
	}
	before := len(updated)
	for _, c := range plan.Create {
		node := nodeOf(c.Pod)
		if there[node]++; there[node] > most {
			j.wrong("DS-3: node %s gets %d pods", node, there[node])
		}
		if n := j.w.node(node); n == nil || n.Spec.Taints != nil {
			j.wrong("DS-2: node %s gets a pod", node)
			continue
		}
		if c.Pod.Labels[podplan.RevisionLabel] == plan.hash() && j.w.node(node).Labels["zone"] == "a" { // the current template may not fit others
			updated[node] = true
		}
	}
	for _, p := range plan.Patch {
		if p.Kind == rollout.PatchUpdateInPlace {
			updated[nodeOf(p.Pod)] = true
		}
	}
	strategy := s.Set.Spec.UpdateStrategy
	if strategy.Type == "OnDelete" || strategy.RollingUpdate.Partition == nil || plan.Status == nil || plan.Revisions.Current == plan.Revisions.Update {
		return
	}
	if allowed := int(plan.Status.DesiredNumberScheduled - *strategy.RollingUpdate.Partition); len(updated) > before && len(updated) > allowed {
		j.wrong("DS-5, DS-9: %d nodes are updated, %d before, and %d may be", len(updated), before, max(allowed, 0))
	}
}

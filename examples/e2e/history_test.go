// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/examples/testbed/podstate"
)

// history is what has become of every pod of a namespace, and judges the budgets at every moment of it.
type history struct {
	mu      sync.Mutex
	pods    map[types.UID]*podHistory
	budgets map[string]*budget // by workload
	log     []string
	acts    []string
}

// podHistory is all that one pod has been.
type podHistory struct {
	name, set string
	last      *corev1.Pod
	gone      bool
	addresses []string
}

// budget says how many pods of a workload must be in service, and how many there may be.
type budget struct {
	minAvailable, maxPods int
	// What has been observed since.
	states, leastAvailable, mostPods int
	violations                       []string
}

func newHistory() *history {
	return &history{pods: map[types.UID]*podHistory{}, budgets: map[string]*budget{}}
}

// observe is told of every change of a pod, in order.
func (h *history) observe(all map[types.UID]*corev1.Pod, old, new **corev1.Pod, version string, _ bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	pod := old
	if new != nil {
		pod = new
	}
	h.note(*pod, new == nil, version)
	h.acts = append(h.acts, acts(old, new)...)
	for set, budget := range h.budgets {
		budget.judge(set, all, version)
	}
}

func (h *history) note(pod *corev1.Pod, gone bool, version string) {
	entry := h.pods[pod.UID]
	if entry == nil {
		entry = &podHistory{name: pod.Name}
		h.pods[pod.UID] = entry
	}
	if owner := metav1.GetControllerOf(pod); owner != nil {
		entry.set = owner.Name
	}
	entry.last, entry.gone = pod, gone
	if address := pod.Status.PodIP; address != "" && !slices.Contains(entry.addresses, address) {
		entry.addresses = append(entry.addresses, address)
	}
	h.log = append(h.log, fmt.Sprintf("%s rv %s %s", time.Now().Format("15:04:05.000"), version, podstate.Describe(pod, gone)))
}

// acts says what a change of a pod means to users; most mean nothing.
func acts(old, new **corev1.Pod) (acts []string) {
	if new == nil {
		return nil
	}
	pod := *new
	switch {
	case old == nil:
		acts = append(acts, "create "+pod.Name)
	case (*old).DeletionTimestamp == nil && pod.DeletionTimestamp != nil:
		acts = append(acts, "delete "+pod.Name)
	case (*old).Spec.Containers[0].Image != pod.Spec.Containers[0].Image:
		acts = append(acts, "update "+pod.Name)
	}
	if podstate.InService(pod) && (old == nil || !podstate.InService(*old)) {
		acts = append(acts, "serve "+pod.Name)
	}
	return acts
}

// acted returns what has been done to the pods so far: "create web-0", "update web-0" in place, "delete web-0", and when they
// came into service, "serve web-0".
func (h *history) acted() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.acts)
}

// lines returns one line for every change so far.
func (h *history) lines() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.log)
}

// expect judges the pods of a workload from now on. All of them must be in service now.
func (s *fixture[T]) expect(set string, minAvailable, maxPods int) {
	s.Pods.Read(func(all map[types.UID]*corev1.Pod) {
		s.history.mu.Lock()
		defer s.history.mu.Unlock()
		b := &budget{minAvailable: minAvailable, maxPods: maxPods, leastAvailable: maxPods}
		s.history.budgets[set] = b
		b.judge(set, all, "now")
	})
}

// keptBudget ends the judgement and fails the test where the budget was broken.
func (s *fixture[T]) keptBudget(set string) {
	s.Helper()
	listed := s.Pods.Lists()
	s.history.mu.Lock()
	defer s.history.mu.Unlock()
	b := s.history.budgets[set]
	delete(s.history.budgets, set)
	s.Logf("%s: %d states of the pods; at least %d were in service (%d wanted), at most %d existed (%d allowed); the pods were listed %d times",
		set, b.states, b.leastAvailable, b.minAvailable, b.mostPods, b.maxPods, listed)
	if len(b.violations) > 0 {
		s.Errorf("the budget of %s is broken in %d states:\n%s", set, len(b.violations), strings.Join(b.violations[:min(5, len(b.violations))], "\n"))
	}
}

func (b *budget) judge(set string, all map[types.UID]*corev1.Pod, version string) {
	available, total := 0, 0
	var out []string
	for _, pod := range all {
		if owner := metav1.GetControllerOf(pod); owner == nil || owner.Name != set {
			continue
		}
		if podstate.Active(pod) {
			total++
		}
		if podstate.InService(pod) {
			available++
		} else {
			out = append(out, podstate.Describe(pod, false))
		}
	}
	b.states++
	b.leastAvailable, b.mostPods = min(b.leastAvailable, available), max(b.mostPods, total)
	if available < b.minAvailable || total > b.maxPods {
		slices.Sort(out)
		b.violations = append(b.violations, fmt.Sprintf(
			"%s rv %s: expected at least %d pods in service and at most %d pods, observed %d and %d; not in service: %s",
			time.Now().Format("15:04:05.000"), version, b.minAvailable, b.maxPods, available, total, strings.Join(out, "; ")))
	}
}

// addressesOf returns every IP that the pod has ever had.
func (h *history) addressesOf(pod *corev1.Pod) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.pods[pod.UID].addresses)
}

// deleted returns the names of the pods that are gone or about to go.
func (h *history) deleted() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var deleted []string
	for _, pod := range h.pods {
		if pod.gone || pod.last.DeletionTimestamp != nil {
			deleted = append(deleted, pod.name)
		}
	}
	slices.Sort(deleted)
	return deleted
}

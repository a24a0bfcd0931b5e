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

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// history is what has become of every pod of a namespace, and judges the budgets at every moment of it.
type history struct {
	mu      sync.Mutex
	pods    map[types.UID]*podHistory
	budgets map[string]*budget // by CloneSet
	log     []string
}

// podHistory is all that one pod has been.
type podHistory struct {
	name, set string
	last      *corev1.Pod
	gone      bool
	addresses []string
}

// budget says how many pods of a CloneSet must be in service, and how many there may be.
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
func (h *history) observe(all map[types.UID]*corev1.Pod, old, new **corev1.Pod, version string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	pod := old
	if new != nil {
		pod = new
	}
	h.note(*pod, new == nil, version)
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
	h.log = append(h.log, fmt.Sprintf("%s rv %s %s", time.Now().Format("15:04:05.000"), version, describe(pod, gone)))
}

// lines returns one line for every change so far.
func (h *history) lines() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.log)
}

// expect judges the pods of a CloneSet from now on. All of them must be in service now.
func (s *scene) expect(set string, minAvailable, maxPods int) {
	s.pods.mu.Lock()
	defer s.pods.mu.Unlock()
	s.history.mu.Lock()
	defer s.history.mu.Unlock()
	b := &budget{minAvailable: minAvailable, maxPods: maxPods, leastAvailable: maxPods}
	s.history.budgets[set] = b
	b.judge(set, s.pods.objects, "now")
}

// keptBudget ends the judgement and fails the test where the budget was broken.
func (s *scene) keptBudget(set string) {
	s.Helper()
	listed := s.listed()
	s.history.mu.Lock()
	defer s.history.mu.Unlock()
	b := s.history.budgets[set]
	delete(s.history.budgets, set)
	s.Logf("%s: %d states of the pods; at least %d were in service (%d wanted), at most %d existed (%d allowed); the pods were listed %d times",
		set, b.states, b.leastAvailable, b.minAvailable, b.mostPods, b.maxPods, listed)
	if len(b.violations) > 0 {
		s.errorf("the budget of CloneSet %s is broken in %d states:\n%s", set, len(b.violations), strings.Join(b.violations[:min(5, len(b.violations))], "\n"))
	}
}

func (s *scene) listed() int {
	s.pods.mu.Lock()
	defer s.pods.mu.Unlock()
	return s.pods.lists
}

func (b *budget) judge(set string, all map[types.UID]*corev1.Pod, version string) {
	available, total := 0, 0
	var out []string
	for _, pod := range all {
		if owner := metav1.GetControllerOf(pod); owner == nil || owner.Name != set {
			continue
		}
		if active(pod) {
			total++
		}
		if inService(pod) {
			available++
		} else {
			out = append(out, describe(pod, false))
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

// inService tells whether a pod takes traffic and will go on to: it is Ready, and nothing has been started that takes it out,
// like a deletion or a new image that its kubelet will act on.
func inService(pod *corev1.Pod) bool {
	if pod.DeletionTimestamp != nil || pod.Status.Phase != corev1.PodRunning ||
		condition(pod, corev1.PodReady).Status != corev1.ConditionTrue {
		return false
	}
	for _, gate := range pod.Spec.ReadinessGates {
		if condition(pod, gate.ConditionType).Status != corev1.ConditionTrue {
			return false
		}
	}
	for _, container := range pod.Spec.Containers {
		if status := containerStatus(pod, container.Name); !status.Ready || status.Image != container.Image {
			return false
		}
	}
	return true
}

func condition(pod *corev1.Pod, conditionType corev1.PodConditionType) corev1.PodCondition {
	for _, c := range pod.Status.Conditions {
		if c.Type == conditionType {
			return c
		}
	}
	return corev1.PodCondition{}
}

func containerStatus(pod *corev1.Pod, name string) corev1.ContainerStatus {
	for _, status := range pod.Status.ContainerStatuses {
		if status.Name == name {
			return status
		}
	}
	return corev1.ContainerStatus{}
}

// describe is a pod in one line.
func describe(pod *corev1.Pod, gone bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%.8s)", pod.Name, pod.UID)
	switch {
	case gone:
		b.WriteString(" gone")
	case pod.DeletionTimestamp != nil:
		b.WriteString(" terminating")
	}
	fmt.Fprintf(&b, " %s Ready=%s InPlaceUpdateReady=%s KruisePodReady=%s %s %s", pod.Status.Phase,
		condition(pod, corev1.PodReady).Status, condition(pod, inplacev1alpha1.InPlaceUpdateReady).Status,
		condition(pod, lifecyclev1alpha1.KruisePodReady).Status,
		pod.Labels[lifecyclev1alpha1.StateLabel], pod.Labels["controller-revision-hash"])
	for _, container := range pod.Spec.Containers {
		status := containerStatus(pod, container.Name)
		fmt.Fprintf(&b, " %s=%s runs %s restarts %d", container.Name, container.Image, status.Image, status.RestartCount)
	}
	return b.String()
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

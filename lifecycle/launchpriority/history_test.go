// SPDX-License-Identifier: Apache-2.0

package launchpriority

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/lifecycle/launchpriority/barrier"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// history is the pod web, which is deleted and made anew now and then, amid a kubelet, a garbage collector and users. The controller
// reads the pod from a cache that may be old, and its own filter of events alone wakes it. Its writes may fail or lose their answer.
type history struct {
	*rapid.T
	plan    func(*Snapshot) *Plan
	violate func(rule, format string, args ...any)

	features    Features
	pod, cached *corev1.Pod // as the API server has it, and as the cache shows it
	configMap   *corev1.ConfigMap
	due         bool                          // the controller has the pod in its queue
	looks       bool                          // it has asked for a reconcile after a while
	ready       map[types.UID]map[string]bool // the containers that have been ready, of each pod
	made        int                           // of pods and ConfigMaps, for UIDs
}

// TestHistories: a container begins when all containers of higher priorities have been ready, and every one begins at last, whatever
// has happened. (LP-9, LP-10, LP-11, LP-12, LP-17, LP-18)
func TestHistories(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		newHistory(t, NewPlan, func(rule, format string, args ...any) { t.Fatalf(rule+": "+format, args...) }).play()
	})
}

func newHistory(t *rapid.T, plan func(*Snapshot) *Plan, violate func(string, string, ...any)) *history {
	h := &history{T: t, plan: plan, violate: violate, ready: map[types.UID]map[string]bool{}}
	h.features = FeaturesOf(rapid.SampledFrom([]podwright.Release{podwright.Release14, podwright.Release19}).Draw(t, "release"))
	h.makePod()
	return h
}

func (h *history) play() {
	h.Repeat(map[string]func(*rapid.T){
		"":                     func(*rapid.T) { h.check() },
		"the kubelet works":    func(*rapid.T) { h.kubelet(rapid.IntRange(0, 9).Draw(h.T, "how")) },
		"the kubelet goes on":  func(*rapid.T) { h.kubelet(9) },
		"the cache catches up": func(*rapid.T) { h.catchUp() },
		"reconcile":            func(*rapid.T) { h.work("") },
		"reconcile, amid a fault": func(*rapid.T) {
			h.work(rapid.SampledFrom([]string{"fails", "no answer", "replaced meanwhile"}).Draw(h.T, "fault"))
		},
		"time passes":                   func(*rapid.T) { h.due = h.due || h.looks },
		"the garbage collector":         func(*rapid.T) { h.collect() },
		"a user deletes the ConfigMap":  func(*rapid.T) { h.configMap = nil },
		"a user has one of the name":    func(*rapid.T) { h.foreign() },
		"the pod is made anew":          func(*rapid.T) { h.makePod() },
		"a container is no more ready":  func(*rapid.T) { h.kubelet(0) },
		"the controller starts anew":    func(*rapid.T) { h.catchUp(); h.due, h.looks = true, false },
		"nothing stands in the way now": func(*rapid.T) { h.calm() },
		"all go on": func(*rapid.T) {
			for range 3 {
				h.kubelet(9)
				h.catchUp()
				h.work("")
			}
		},
	})
	h.calm()
}

func (h *history) uid() types.UID { h.made++; return types.UID(fmt.Sprint("uid-", h.made)) }

// makePod makes a pod of containers with priorities, some of which are the same, and one without. One of the name goes.
func (h *history) makePod() {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: h.uid()}, Status: corev1.PodStatus{Phase: corev1.PodPending}}
	for i := range rapid.IntRange(2, 4).Draw(h.T, "containers") {
		key := fmt.Sprint("p_", rapid.IntRange(-1, 2).Draw(h.T, "priority"))
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: fmt.Sprint("c", i), Env: []corev1.EnvVar{waits("web-barrier", key)}})
	}
	pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: "free"})
	h.pod, h.ready[pod.UID] = pod, map[string]bool{}
}

// foreign has a user make a ConfigMap of the name, if there is none.
func (h *history) foreign() {
	if h.configMap == nil {
		h.configMap = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: barrier.ConfigMapName("web"), UID: h.uid()}}
	}
}

// collect deletes the ConfigMap of a former pod.
func (h *history) collect() {
	if h.configMap != nil && len(h.configMap.OwnerReferences) > 0 && h.configMap.OwnerReferences[0].UID != h.pod.UID {
		h.configMap = nil
	}
}

// catchUp has the cache show the pod. The filter of events says whether that wakes the controller.
func (h *history) catchUp() {
	before := h.cached
	h.cached = h.pod.DeepCopy()
	h.features.podChanged(before, h.cached, func(types.NamespacedName) { h.due = true })
}

// kubelet moves one container on: with 9 the first that can be, and with less one that is drawn, perhaps back.
func (h *history) kubelet(how int) {
	h.pod = h.pod.DeepCopy()
	if h.pod.Status.ContainerStatuses == nil { // it reports on all at once
		for _, c := range h.pod.Spec.Containers {
			h.pod.Status.ContainerStatuses = append(h.pod.Status.ContainerStatuses, stateOf(c.Name, "ContainerCreating"))
		}
		h.pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.ContainersReady, Status: corev1.ConditionFalse}}
		return
	}
	for i := range h.pod.Spec.Containers {
		c := &h.pod.Spec.Containers[i]
		if how < 9 && rapid.Bool().Draw(h.T, "another") {
			continue
		}
		status := podstate.ContainerStatus(h.pod, c.Name)
		switch {
		case status.Ready && how == 9:
			continue
		case status.Ready:
			status.Ready = false
		case status.State.Waiting != nil && h.misses(c):
			status.State.Waiting.Reason = reasonRefused
			continue
		case status.State.Waiting != nil:
			status.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
		default:
			status.Ready = true
			h.ready[h.pod.UID][c.Name] = true
		}
		break
	}
	all := corev1.ConditionTrue
	for _, c := range h.pod.Spec.Containers {
		if status := podstate.ContainerStatus(h.pod, c.Name); status == nil || !status.Ready {
			all = corev1.ConditionFalse
		}
	}
	h.pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.ContainersReady, Status: all}}
}

func stateOf(name, waiting string) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: waiting}}}
}

// misses tells whether the kubelet cannot create a container for lack of a key.
func (h *history) misses(c *corev1.Container) bool {
	for _, env := range c.Env {
		if _, found := h.data()[env.ValueFrom.ConfigMapKeyRef.Key]; !found {
			return true
		}
	}
	return false
}

func (h *history) data() map[string]string {
	if h.configMap == nil {
		return nil
	}
	return h.configMap.Data
}

// work has the controller reconcile, if the pod is in its queue. A write that fails, or has no answer, is tried again.
func (h *history) work(fault string) {
	if !h.due || h.cached == nil {
		return
	}
	h.due, h.looks = false, false
	if _, found := h.features.turnOf(h.cached); !found {
		return
	}
	s := &Snapshot{Pod: h.cached, ConfigMap: h.configMap.DeepCopy(), Features: h.features}
	plan := h.plan(s)
	h.judge(s, plan)
	h.looks = plan.RequeueAfter > 0
	if fault == "replaced meanwhile" && h.configMap != nil {
		h.configMap = nil
		h.foreign()
	}
	if plan.Create == nil && len(plan.Add) == 0 && !plan.Mark {
		return
	}
	if fault == "fails" {
		h.due = true
		return
	}
	h.write(s, plan)
	h.due = h.due || fault == "no answer"
}

func (h *history) write(s *Snapshot, plan *Plan) {
	switch {
	case plan.Create != nil && h.configMap != nil:
		h.due = true // it exists
		return
	case plan.Create != nil:
		h.configMap = plan.Create.DeepCopy()
		h.configMap.UID = h.uid()
	case len(plan.Add) > 0 && (h.configMap == nil || h.configMap.UID != s.ConfigMap.UID):
		h.due = true // it is another one
		return
	case len(plan.Add) > 0:
		h.configMap = h.configMap.DeepCopy()
		if h.configMap.Data == nil {
			h.configMap.Data = map[string]string{}
		}
		for _, key := range plan.Add {
			h.configMap.Data[key] = released
		}
	}
	if plan.Mark && h.pod.UID == s.Pod.UID {
		h.pod = h.pod.DeepCopy()
		h.pod.Annotations = map[string]string{lifecyclev1alpha1.LaunchPriorityCompletedAnnotation: "true"}
	}
}

// judge checks what a plan may do about the pod that the cache shows.
func (h *history) judge(s *Snapshot, plan *Plan) {
	added := slices.Clone(plan.Add)
	if plan.Create != nil {
		added = slices.Collect(maps.Keys(plan.Create.Data))
		if owners := plan.Create.OwnerReferences; s.ConfigMap != nil || len(owners) != 1 || owners[0].UID != s.Pod.UID {
			h.violate("LP-9", "it creates a ConfigMap of %v beside %v", owners, s.ConfigMap)
		}
	}
	if len(plan.Add) > 0 && (s.ConfigMap == nil || len(s.ConfigMap.OwnerReferences) == 0 || s.ConfigMap.OwnerReferences[0].UID != s.Pod.UID) {
		h.violate("LP-9", "it adds %v to a ConfigMap of another", plan.Add)
	}
	has := map[string]bool{}
	for key := range h.data() {
		has[key] = true
	}
	for _, key := range added {
		has[key] = true
		for i := range s.Pod.Spec.Containers {
			c := &s.Pod.Spec.Containers[i]
			if keys, priority := barriersOf(s.Pod, c); len(keys) > 0 && fmt.Sprint("p_", priority) != key && priority > priorityOf(h.T, key) && !h.ready[s.Pod.UID][c.Name] {
				h.violate("LP-11", "%s begins before %s of %d has been ready", key, c.Name, priority)
			}
		}
	}
	if !plan.Mark {
		return
	}
	for i := range s.Pod.Spec.Containers {
		c := &s.Pod.Spec.Containers[i]
		keys, _ := barriersOf(s.Pod, c)
		if status := podstate.ContainerStatus(s.Pod, c.Name); len(keys) > 0 && !has[keys[0]] && (status == nil || !status.Ready) {
			h.violate("LP-18", "it says that all keys are written, and %s of %s is not", keys[0], c.Name)
		}
	}
}

func priorityOf(t *rapid.T, key string) (n int) {
	if _, err := fmt.Sscanf(key, "p_%d", &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// check checks what holds at any time: the controller writes no keys into the ConfigMap of a user.
func (h *history) check() {
	if h.configMap != nil && len(h.configMap.OwnerReferences) == 0 && len(h.configMap.Data) > 0 {
		h.violate("LP-9", "keys stand in the ConfigMap of a user: %v", h.configMap.Data)
	}
}

// calm takes away what stands in the way. Then all containers become ready, and the controller has nothing left to do.
func (h *history) calm() {
	for range 40 {
		h.collect()
		if h.configMap != nil && len(h.configMap.OwnerReferences) == 0 {
			h.configMap = nil
		}
		h.kubelet(9)
		h.catchUp()
		h.due = h.due || h.looks
		h.work("")
	}
	for _, c := range h.pod.Spec.Containers {
		if status := podstate.ContainerStatus(h.pod, c.Name); status == nil || !status.Ready {
			h.violate("LP-10", "%s does not become ready: %+v, and the ConfigMap has %v", c.Name, status, h.data())
		}
	}
}

// TestHistoriesFindBugs plants bugs, each of which a few histories must find.
func TestHistoriesFindBugs(t *testing.T) {
	t.Parallel()
	for _, bug := range []struct {
		name, breaks string
		plan         func(*Snapshot) *Plan
	}{
		{"all keys are written at once", "LP-11", withBug(func(s *Snapshot, p *Plan) {
			for i := range s.Pod.Spec.Containers {
				if keys, _ := barriersOf(s.Pod, &s.Pod.Spec.Containers[i]); p.Create != nil && len(keys) > 0 {
					p.Create.Data[keys[0]] = released
				}
			}
		})},
		{"the ConfigMap of another gets keys", "LP-9", func(s *Snapshot) *Plan {
			p := NewPlan(s)
			if next, found := s.Features.turnOf(s.Pod); found && s.relation() == foreign {
				p.Add = next.keys
			}
			return p
		}},
		{"that of a former pod is not waited for", "LP-10", withBug(func(s *Snapshot, p *Plan) {
			if r := s.relation(); r == leaving || r == foreign {
				p.RequeueAfter = 0
			}
		})},
		{"no key is added", "LP-10", withBug(func(_ *Snapshot, p *Plan) { p.Add = nil })},
		{"a key that a user deletes is not written again", "LP-10", withBug(func(s *Snapshot, p *Plan) {
			if p.RequeueAfter = 0; len(s.Pod.Status.ContainerStatuses) > 1 {
				p.Create = nil
			}
		})},
		{"it is marked too early", "LP-18", withBug(func(s *Snapshot, p *Plan) { p.Mark = s.Features.MarkCompleted })},
	} {
		t.Run(bug.name, func(t *testing.T) {
			t.Parallel()
			found := false
			for seed := range 100 {
				rapid.Custom(func(t *rapid.T) bool {
					newHistory(t, bug.plan, func(rule, _ string, _ ...any) { found = found || rule == bug.breaks }).play()
					return true
				}).Example(seed)
				if found {
					return
				}
			}
			t.Errorf("no violation of %s", bug.breaks)
		})
	}
}

// withBug is a planner with a bug in what it plans.
func withBug(spoil func(*Snapshot, *Plan)) func(*Snapshot) *Plan {
	return func(s *Snapshot) *Plan {
		p := NewPlan(s)
		spoil(s, p)
		return p
	}
}

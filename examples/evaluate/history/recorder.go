package history

import (
	"maps"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/lifecycle/readiness"
)

// Promise is what an in-place rollout must keep to, and the roll-back of a bad one.
type Promise struct {
	// Pods is the number of pods, before, during and after.
	Pods int
	// MaxUnavailable is how many of them may be missing or not Ready at any moment.
	MaxUnavailable int
	// Container is the container that gets a new image, Image.
	Container, Image string
	// RollBack is the image with which the pods end when Image is bad: it
	// reaches MaxUnavailable pods, which break, and is rolled back. Empty: Image
	// is good, reaches all pods and stays.
	RollBack string
	// Order holds the names of the pods in the order in which they move. It
	// does not tell pods apart that may move at the same time. Empty: any order.
	Order []string
}

// reach is how many pods get the new image.
func (p *Promise) reach() int {
	if p.RollBack != "" {
		return p.MaxUnavailable
	}
	return p.Pods
}

// Recorder is told of every state of every pod. Its zero value is ready for
// use. It is safe for concurrent use; events must come in their order, and the
// pods must not be changed afterwards.
type Recorder struct {
	mu   sync.Mutex
	pods map[types.UID]*corev1.Pod // as they are now
	rollout
}

// rollout is what was seen since Begin.
type rollout struct {
	promise Promise
	before  map[types.UID]*corev1.Pod // the pods at Begin; nil until then

	states int
	worst  []string // names of the unavailable pods, when they were the most
	stages []stage

	lost, created         names // pods deleted, and pods that came new
	moved                 names // seen on another node or with another IP
	reached, outOfTurn    names // seen with the new image; those of them that were not next in order
	exchanged, unshielded names // seen while a container was to restart; those of them that were Ready
}

// names is a set of pod names.
type names map[string]bool

func (n *names) add(name string) {
	if *n == nil {
		*n = names{}
	}
	(*n)[name] = true
}

// stage is a time during which only some pods may have the new image.
type stage struct {
	name          string
	allowed, most int // pods with the new image
}

// Set tells of a pod that was created or has changed.
func (r *Recorder) Set(pod *corev1.Pod) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pods == nil {
		r.pods = map[types.UID]*corev1.Pod{}
	}
	r.pods[pod.UID] = pod
	if r.before != nil {
		r.look(pod)
		r.count()
	}
}

// Delete tells of a pod that is gone.
func (r *Recorder) Delete(pod *corev1.Pod) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.pods, pod.UID)
	if r.before != nil {
		r.lost.add(pod.Name)
		r.count()
	}
}

// Begin takes the pods as they are now for what the rollout has to keep. Call
// it before anything is changed. It forgets an earlier rollout.
func (r *Recorder) Begin(p Promise) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rollout = rollout{promise: p, before: map[types.UID]*corev1.Pod{}}
	maps.Copy(r.before, r.pods)
	r.count()
}

// Allow begins a stage: from now on so many pods may have the new image. Call
// it before the change that lets them. The name says what sets the limit, such
// as "partition 50%".
func (r *Recorder) Allow(name string, pods int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stages = append(r.stages, stage{name: name, allowed: pods})
	r.count()
}

// MostUnavailable returns the most pods that were unavailable at any moment
// since Begin; false before that.
func (r *Recorder) MostUnavailable() (n int, begun bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.worst), r.before != nil
}

// look compares one pod with what it was.
func (r *Recorder) look(pod *corev1.Pod) {
	before := r.before[pod.UID]
	if before == nil {
		r.created.add(pod.Name)
		return
	}
	if pod.DeletionTimestamp != nil {
		r.lost.add(pod.Name)
	}
	if pod.Spec.NodeName != before.Spec.NodeName || pod.Status.PodIP != before.Status.PodIP {
		r.moved.add(pod.Name)
	}
	if r.updated(pod) && !r.reached[pod.Name] {
		if !r.isNext(pod.Name) {
			r.outOfTurn.add(pod.Name)
		}
		r.reached.add(pod.Name)
	}
	// A roll-back exchanges the container as well.
	if r.reached[pod.Name] && r.restarts(pod) == r.restarts(before) {
		r.exchanged.add(pod.Name)
		if readiness.Ready(pod) {
			r.unshielded.add(pod.Name)
		}
	}
}

// isNext tells whether a pod may get the new image now: of those before it in
// order, only so many have not got it as may get it together with this one.
func (r *Recorder) isNext(name string) bool {
	passed := 0
	for _, earlier := range r.promise.Order {
		if earlier == name {
			return passed < r.promise.MaxUnavailable
		}
		if !r.reached[earlier] {
			passed++
		}
	}
	return len(r.promise.Order) == 0
}

// count counts all pods as they are now.
func (r *Recorder) count() {
	r.states++
	if unavailable := r.unavailable(); len(unavailable) > len(r.worst) {
		r.worst = unavailable
	}
	if len(r.stages) == 0 {
		return
	}
	n := 0
	for _, pod := range r.pods {
		if r.updated(pod) {
			n++
		}
	}
	now := &r.stages[len(r.stages)-1]
	now.most = max(now.most, n)
}

// unavailable names the pods that are not available. Missing ones have no name.
func (r *Recorder) unavailable() []string {
	var out []string
	available := 0
	for _, pod := range r.pods {
		if readiness.Ready(pod) && pod.DeletionTimestamp == nil {
			available++
		} else {
			out = append(out, pod.Name)
		}
	}
	slices.Sort(out)
	// A pod beyond the wanted number makes good for one that is not available.
	missing := max(r.promise.Pods-available, 0)
	for len(out) < missing {
		out = append(out, "(missing)")
	}
	return out[:missing]
}

func (r *Recorder) updated(pod *corev1.Pod) bool { return r.image(pod) == r.promise.Image }

// image returns the image of the container that gets the new one.
func (r *Recorder) image(pod *corev1.Pod) string {
	for i := range pod.Spec.Containers {
		if c := &pod.Spec.Containers[i]; c.Name == r.promise.Container {
			return c.Image
		}
	}
	return ""
}

func (r *Recorder) restarts(pod *corev1.Pod) int32 {
	return r.status(pod).RestartCount
}

// status returns the status of the container that gets the new image; an empty
// one where the pod reports none.
func (r *Recorder) status(pod *corev1.Pod) corev1.ContainerStatus {
	for _, s := range pod.Status.ContainerStatuses {
		if s.Name == r.promise.Container {
			return s
		}
	}
	return corev1.ContainerStatus{}
}

package history

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/lifecycle/readiness"
)

// Check is one promise, what was measured, and whether it held.
type Check struct {
	OK bool
	// Text says it with its figures, such as "10 of 10 pods kept their UID".
	Text string
}

// Check compares the rollout with its promise. The pods are those that the API
// server lists when it is over, read afresh: caches may be wrong.
func (r *Recorder) Check(final []*corev1.Pod) []Check {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := map[types.UID]*corev1.Pod{}
	for _, pod := range final {
		now[pod.UID] = pod
	}
	checks := []Check{r.checkIdentity(now), r.checkPlace(now), r.checkRestarts(now), r.checkImage(now), r.checkUnavailable(), r.checkShield()}
	if len(r.promise.Order) > 0 {
		checks = append(checks, r.checkOrder())
	}
	for _, s := range r.stages {
		checks = append(checks, r.checkStage(s))
	}
	return checks
}

// checkIdentity: the pods are the same objects, and no other was there meanwhile.
func (r *Recorder) checkIdentity(now map[types.UID]*corev1.Pod) Check {
	kept, lost, created := 0, maps.Clone(r.lost), maps.Clone(r.created)
	for uid, pod := range r.before {
		if now[uid] == nil {
			lost.add(pod.Name)
		} else {
			kept++
		}
	}
	for uid, pod := range now {
		if r.before[uid] == nil {
			created.add(pod.Name)
		}
	}
	text := r.of(kept) + " kept their name and UID"
	if len(lost)+len(created) == 0 {
		text += "; none was deleted, none created"
	}
	return Check{
		OK:   kept == r.promise.Pods && len(lost)+len(created) == 0,
		Text: text + list("deleted", lost) + list("created", created),
	}
}

// checkPlace: the pods stayed where they were, at every moment.
func (r *Recorder) checkPlace(now map[types.UID]*corev1.Pod) Check {
	wrong := maps.Clone(r.moved)
	kept := r.countKept(now, func(before, after *corev1.Pod) bool {
		ok := before.Spec.NodeName != "" && before.Status.PodIP != "" && // else there was nothing to keep
			after.Spec.NodeName == before.Spec.NodeName && after.Status.PodIP == before.Status.PodIP && !r.moved[after.Name]
		if !ok {
			wrong.add(after.Name)
		}
		return ok
	})
	return Check{OK: kept == r.promise.Pods, Text: r.of(kept) + " kept their node and their IP" + list("not", wrong)}
}

// checkRestarts: the one container restarted once in every pod that moved, and
// no other container did.
func (r *Recorder) checkRestarts(now map[types.UID]*corev1.Pod) Check {
	var wrong names
	once := 0
	kept := r.countKept(now, func(before, after *corev1.Pod) bool {
		var want int32
		if r.moves(after) {
			want = 1
		}
		more := total(after) - total(before)
		if more != want || r.restarts(after)-r.restarts(before) != want {
			wrong.add(fmt.Sprintf("%s %+d", after.Name, more))
			return false
		}
		once += int(want)
		return true
	})
	text := fmt.Sprintf("%d of %d containers restarted in place exactly once: restartCount + 1", once, r.promise.Pods)
	if r.promise.RollBack != "" {
		text += fmt.Sprintf("; %d did not restart", kept-once)
	}
	return Check{OK: kept == r.promise.Pods && once == r.promise.reach(), Text: text + list("not", wrong)}
}

// moves tells whether a pod is one that gets the new image: all do, unless that is bad.
func (r *Recorder) moves(pod *corev1.Pod) bool {
	return r.promise.RollBack == "" || r.reached[pod.Name]
}

// total counts the restarts of all containers of a pod.
func total(pod *corev1.Pod) (n int32) {
	for i := range pod.Status.ContainerStatuses {
		n += pod.Status.ContainerStatuses[i].RestartCount
	}
	return n
}

// checkImage: the pods serve again, in a new container where they moved, with
// the image that they shall have in the end.
func (r *Recorder) checkImage(now map[types.UID]*corev1.Pod) Check {
	var wrong names
	image := cmp.Or(r.promise.RollBack, r.promise.Image)
	kept := r.countKept(now, func(before, after *corev1.Pod) bool {
		was, is := r.status(before), r.status(after)
		ok := r.image(after) == image && readiness.Ready(after) &&
			is.ContainerID != "" && (is.ContainerID != was.ContainerID) == r.moves(after)
		if !ok {
			wrong.add(after.Name)
		}
		return ok
	})
	return Check{OK: kept == r.promise.Pods, Text: fmt.Sprintf("%s are Ready with the image %s%s", r.of(kept), image, list("not", wrong))}
}

// checkUnavailable: at no moment were more pods unavailable than allowed.
func (r *Recorder) checkUnavailable() Check {
	text := fmt.Sprintf("at most %s unavailable at any moment (allowed: %d; %d states)",
		pods(len(r.worst), "was", "were"), r.promise.MaxUnavailable, r.states)
	if len(r.worst) == 0 {
		return Check{Text: text + "; but a container cannot restart without it: the watch has missed the update"}
	}
	if len(r.worst) > r.promise.MaxUnavailable {
		return Check{Text: text + ": " + strings.Join(r.worst, ", ")}
	}
	return Check{OK: true, Text: text}
}

// checkShield: pods were taken out of service before their container was exchanged.
func (r *Recorder) checkShield() Check {
	shielded := len(r.exchanged) - len(r.unshielded)
	return Check{OK: shielded == r.promise.reach() && len(r.unshielded) == 0,
		Text: fmt.Sprintf("%s were not Ready while their container was exchanged%s", r.of(shielded), list("not", r.unshielded))}
}

// checkOrder: no pod moved before its turn.
func (r *Recorder) checkOrder() Check {
	inTurn := len(r.reached) - len(r.outOfTurn)
	return Check{OK: inTurn == r.promise.reach() && len(r.outOfTurn) == 0,
		Text: fmt.Sprintf("%s moved in their turn, %s first%s", r.of(inTurn), r.promise.Order[0], list("not", r.outOfTurn))}
}

// checkStage: as many pods moved as were allowed to, and no more.
func (r *Recorder) checkStage(s stage) Check {
	return Check{OK: s.most == s.allowed,
		Text: fmt.Sprintf("%s moved with %s (expected: %d)", r.of(s.most), s.name, s.allowed)}
}

// countKept counts the pods from before that are still there and as they should be.
func (r *Recorder) countKept(now map[types.UID]*corev1.Pod, ok func(before, after *corev1.Pod) bool) (n int) {
	for uid, before := range r.before {
		if after := now[uid]; after != nil && ok(before, after) {
			n++
		}
	}
	return n
}

func (r *Recorder) of(n int) string { return fmt.Sprintf("%d of %d pods", n, r.promise.Pods) }

func pods(n int, one, many string) string {
	if n == 1 {
		return "1 pod " + one
	}
	return fmt.Sprintf("%d pods %s", n, many)
}

// list names what went wrong, in order.
func list(what string, n names) string {
	if len(n) == 0 {
		return ""
	}
	return "; " + what + ": " + strings.Join(slices.Sorted(maps.Keys(n)), ", ")
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/lifecycle/readiness"
)

// history is what became of the pods since an act began.
type history struct {
	tracks       map[types.UID]*track
	states, most int // how many states of all pods there were, and the most unavailable pods in one of them
}

// track is what became of one pod.
type track struct {
	states []*corev1.Pod // that were seen; the first is that in which the act began
	final  *corev1.Pod   // what the API server has in the end; nil: nothing
	// created and deleted say what happened during the act; gone, that nothing is left.
	created, deleted, gone bool
}

// newHistory begins with the pods as they are, which the act has to keep.
func newHistory(pods []*corev1.Pod) *history {
	h := &history{tracks: map[types.UID]*track{}}
	for _, pod := range pods {
		h.tracks[pod.UID] = &track{states: []*corev1.Pod{pod}}
	}
	return h
}

// see takes note of a new state of a pod, or of its end.
func (h *history) see(pod *corev1.Pod, gone bool) {
	if h.tracks[pod.UID] == nil {
		h.tracks[pod.UID] = &track{created: true}
	}
	t := h.tracks[pod.UID]
	t.states, t.gone = append(t.states, pod), gone
	t.deleted = t.deleted || gone || pod.DeletionTimestamp != nil
	var there []*corev1.Pod
	for _, t := range h.tracks {
		if !t.gone {
			there = append(there, t.states[len(t.states)-1])
		}
	}
	h.states++
	h.most = max(h.most, replicas-available(there))
}

// available counts the pods that serve, and will go on to.
func available(pods []*corev1.Pod) (n int) {
	for _, pod := range pods {
		if readiness.Ready(pod) && pod.DeletionTimestamp == nil {
			n++
		}
	}
	return n
}

// check is one promise, what was measured, and whether it held. A promise that could not be checked, because nothing was seen,
// counts as broken too.
type check struct {
	ok bool
	// text says it with its figures, such as "10 of 10 pods kept their UID".
	text string
}

// checks compares what became of the pods with what an act promises, in which so many of them get another image. The pods are in
// the end as the API server lists them, read afresh: watches may be wrong.
func (h *history) checks(final []*corev1.Pod, moves int) []check {
	for _, pod := range final {
		if h.tracks[pod.UID] == nil {
			h.tracks[pod.UID] = &track{states: []*corev1.Pod{pod}, created: true}
		}
		h.tracks[pod.UID].final = pod
	}
	identity := h.promise(replicas, "%d of %d pods kept their name and UID", func(t *track) (holds, wrong bool) { return t.final != nil, false })
	others := list("deleted", h.named(func(t *track) bool { return t.deleted || t.final == nil })) +
		list("created", h.named(func(t *track) bool { return t.created }))
	if others != "" {
		identity = check{text: identity.text + others}
	} else {
		identity.text += "; none was deleted, none created"
	}
	restarts := "%d of %d containers restarted in place exactly once: restartCount + 1"
	if moves < replicas {
		restarts += fmt.Sprintf("; %d did not restart", len(h.named(func(t *track) bool { return t.restarts() == 0 })))
	}
	unavailable := check{h.most <= maxUnavailable, fmt.Sprintf("at most %d pods were unavailable at any moment (allowed: %d; %d states)", h.most, maxUnavailable, h.states)}
	if h.most == 0 {
		unavailable = check{text: unavailable.text + "; but a container cannot restart without it: the watch has missed the update"}
	}
	return []check{
		identity,
		h.promise(replicas, "%d of %d pods kept their node and their IP", (*track).stayed),
		h.promise(moves, restarts, (*track).restarted),
		h.promise(replicas, "%d of %d pods are Ready with the image "+newImage, (*track).serves),
		unavailable,
		h.promise(moves, "%d of %d pods were not Ready while their container was exchanged", (*track).shielded),
	}
}

// promise checks that something holds of so many pods from before, and that it is wrong of none. The format takes the number and
// that of all pods.
func (h *history) promise(want int, format string, of func(*track) (holds, wrong bool)) check {
	kept := h.named(func(t *track) bool { holds, _ := of(t); return holds && !t.created })
	broken := h.named(func(t *track) bool { _, wrong := of(t); return wrong && !t.created })
	return check{len(kept) == want && len(broken) == 0, fmt.Sprintf(format, len(kept), replicas) + list("not", broken)}
}

// named returns the names of the pods of which something holds, in order.
func (h *history) named(holds func(*track) bool) (names []string) {
	for _, t := range h.tracks {
		if holds(t) {
			names = append(names, t.states[0].Name)
		}
	}
	slices.Sort(names)
	return names
}

// list names what went wrong.
func list(what string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "; " + what + ": " + strings.Join(names, ", ")
}

// stayed: it was in the same place at every moment.
func (t *track) stayed() (holds, wrong bool) {
	first := t.states[0]
	holds = t.final != nil && first.Spec.NodeName != "" && first.Status.PodIP != "" // else there was nothing to keep
	for _, pod := range append(t.states, t.final) {
		holds = holds && pod.Spec.NodeName == first.Spec.NodeName && pod.Status.PodIP == first.Status.PodIP
	}
	return holds, !holds
}

// restarted: one of its containers did, once. It may be a pod of which none did.
func (t *track) restarted() (holds, wrong bool) {
	return t.restarts() == 1, t.restarts() < 0 || t.restarts() > 1
}

// restarts counts them during the act; -1 where the pod is gone.
func (t *track) restarts() int32 {
	if t.final == nil {
		return -1
	}
	return restarts(t.final) - restarts(t.states[0])
}

// serves: it is Ready with the image that it shall have in the end, in another container where one restarted.
func (t *track) serves() (holds, wrong bool) {
	if t.final == nil || len(t.final.Status.ContainerStatuses) == 0 || len(t.states[0].Status.ContainerStatuses) == 0 {
		return false, true
	}
	before, after := t.states[0].Status.ContainerStatuses[0].ContainerID, t.final.Status.ContainerStatuses[0].ContainerID
	holds = after != "" && (after == before) == (t.restarts() == 0) && t.final.Spec.Containers[0].Image == newImage && readiness.Ready(t.final)
	return holds, !holds
}

// shielded: from when it got another image it was out of service, until its container had restarted. It may be a pod that got none.
func (t *track) shielded() (holds, wrong bool) {
	first := t.states[0]
	for _, pod := range t.states {
		holds = holds || pod.Spec.Containers[0].Image != first.Spec.Containers[0].Image
		wrong = wrong || holds && restarts(pod) == restarts(first) && readiness.Ready(pod)
	}
	return holds && !wrong, wrong
}

// restarts counts those of all containers of a pod.
func restarts(pod *corev1.Pod) (n int32) {
	for i := range pod.Status.ContainerStatuses {
		n += pod.Status.ContainerStatuses[i].RestartCount
	}
	return n
}

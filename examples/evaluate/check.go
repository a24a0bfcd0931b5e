// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/podwright/podwright/lifecycle/readiness"
)

// check is one promise, what was measured, and whether it held. A promise that
// could not be checked, because nothing was seen, counts as broken too.
type check struct {
	ok bool
	// text says it with its figures, such as "10 of 10 pods kept their UID".
	text string
}

// begin takes the pods as they are now for what the next act has to keep. Call
// it before anything is changed.
func (o *observer) begin(ctx context.Context) {
	o.catchUp(ctx)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.facts = facts{pods: o.pods, before: maps.Clone(o.pods)}
	for _, names := range []*sets.Set[string]{&o.created, &o.lost, &o.moved, &o.exchanged, &o.unshielded} {
		*names = sets.New[string]()
	}
	if o.record != nil {
		o.settled()
		o.judged = o.record.Seen()
	}
}

// check compares what was seen of an act with what it promises. The pods are those that the API
// server lists when it is over, read afresh: caches may be wrong.
func (o *observer) check(ctx context.Context, final []*corev1.Pod, a act) []check {
	o.catchUp(ctx)
	o.mu.Lock()
	defer o.mu.Unlock()
	now := map[types.UID]*corev1.Pod{}
	for _, pod := range final {
		now[pod.UID] = pod
	}
	checks := []check{
		o.checkIdentity(now), o.checkPlace(now), o.checkRestarts(now, a.moves), o.checkImage(now, a.moves), o.checkUnavailable(), o.checkShield(a.moves),
	}
	if o.record != nil {
		checks = append(checks, o.checkRecord())
	}
	return checks
}

// checkIdentity: the pods are the same objects, and no other was there meanwhile.
func (o *observer) checkIdentity(now map[types.UID]*corev1.Pod) check {
	kept := 0
	for uid, pod := range o.before {
		if now[uid] != nil {
			kept++
		} else {
			o.lost.Insert(pod.Name)
		}
	}
	for uid, pod := range now {
		if o.before[uid] == nil {
			o.created.Insert(pod.Name)
		}
	}
	text := fmt.Sprintf("%d of %d pods kept their name and UID", kept, replicas)
	if len(o.lost)+len(o.created) == 0 {
		return check{kept == replicas, text + "; none was deleted, none created"}
	}
	return check{text: text + list("deleted", o.lost) + list("created", o.created)}
}

// checkPlace: the pods stayed where they were, at every moment.
func (o *observer) checkPlace(now map[types.UID]*corev1.Pod) check {
	return o.each(now, "%d of %d pods kept their node and their IP", func(before, after *corev1.Pod) bool {
		return before.Spec.NodeName != "" && before.Status.PodIP != "" && // else there was nothing to keep
			samePlace(before, after) && !o.moved.Has(after.Name)
	})
}

// checkRestarts: one container restarted once in every pod that moved, and no
// other container did.
func (o *observer) checkRestarts(now map[types.UID]*corev1.Pod, moves int) check {
	once := 0
	c := o.each(now, "", func(before, after *corev1.Pod) bool {
		more := restarts(after) - restarts(before)
		once += int(min(more, 1))
		return more == 0 || more == 1
	})
	text := fmt.Sprintf("%d of %d containers restarted in place exactly once: restartCount + 1", once, replicas)
	if moves < replicas {
		text += fmt.Sprintf("; %d did not restart", replicas-once)
	}
	return check{c.ok && once == moves, text + c.text}
}

// restarts counts those of all containers of a pod.
func restarts(pod *corev1.Pod) (n int32) {
	for i := range pod.Status.ContainerStatuses {
		n += pod.Status.ContainerStatuses[i].RestartCount
	}
	return n
}

// checkImage: the pods serve again, with the image that they shall have in the
// end, in another container where it restarted.
func (o *observer) checkImage(now map[types.UID]*corev1.Pod, moves int) check {
	exchanged := 0
	c := o.each(now, "%d of %d pods are Ready with the image "+newImage, func(before, after *corev1.Pod) bool {
		if len(after.Status.ContainerStatuses) == 0 || len(before.Status.ContainerStatuses) == 0 {
			return false
		}
		id := after.Status.ContainerStatuses[0].ContainerID
		another := id != before.Status.ContainerStatuses[0].ContainerID
		if another {
			exchanged++
		}
		return id != "" && another == (restarts(after) > restarts(before)) && after.Spec.Containers[0].Image == newImage && readiness.Ready(after)
	})
	c.ok = c.ok && exchanged == moves
	return c
}

// checkUnavailable: at no moment were more pods unavailable than allowed.
func (o *observer) checkUnavailable() check {
	text := fmt.Sprintf("at most %d pods were unavailable at any moment (allowed: %d; %d states)", o.most, maxUnavailable, o.states)
	if o.most == 0 {
		return check{text: text + "; but a container cannot restart without it: the watch has missed the update"}
	}
	return check{o.most <= maxUnavailable, text}
}

// checkShield: pods were out of service before their container was exchanged.
func (o *observer) checkShield(moves int) check {
	shielded := len(o.exchanged) - len(o.unshielded)
	return check{shielded == moves, fmt.Sprintf("%d of %d pods were not Ready while their container was exchanged%s", shielded, replicas, list("not", o.unshielded))}
}

// checkRecord: no single write was one that it may not make.
func (o *observer) checkRecord() check {
	o.settled()
	text := fmt.Sprintf("%d changes keep every rule of the library's simulation: order, partition, budget, revisions, status", o.record.Seen()-o.judged)
	wrong := o.record.Review()
	return check{len(wrong) == 0 && o.record.Seen() > o.judged, strings.Join(append([]string{text}, wrong...), "; ")}
}

// settled judges what has been seen, all of which has come to rest.
func (o *observer) settled() {
	if len(o.record.Review()) == 0 && o.record.Seen() > 0 {
		o.record.Settled()
	}
}

// each counts the pods from before that are still there and as they should be, and names the others. The format takes
// the number and that of all pods.
func (o *observer) each(now map[types.UID]*corev1.Pod, format string, ok func(before, after *corev1.Pod) bool) check {
	kept, wrong := 0, sets.New[string]()
	for uid, before := range o.before {
		if after := now[uid]; after != nil && ok(before, after) {
			kept++
		} else {
			wrong.Insert(cmp.Or(before.Name, string(uid)))
		}
	}
	text := ""
	if format != "" {
		text = fmt.Sprintf(format, kept, replicas)
	}
	return check{kept == replicas, text + list("not", wrong)}
}

// list names what went wrong, in order.
func list(what string, names sets.Set[string]) string {
	if len(names) == 0 {
		return ""
	}
	return "; " + what + ": " + strings.Join(sets.List(names), ", ")
}

// verdict says what was checked of an act, and errChecks where a check failed.
func verdict(name string, checks []check, took []string) (lines []line, err error) {
	lines = []line{{}, {text: name + ", checked with the API server:", color: title}}
	for _, c := range checks {
		if c.ok {
			lines = append(lines, line{text: "  ok      " + c.text, color: good})
		} else {
			lines = append(lines, line{text: "  FAILED  " + c.text, color: bad})
			err = errChecks
		}
	}
	return append(lines, line{text: "It took " + strings.Join(took, ", ") + "."}), err
}

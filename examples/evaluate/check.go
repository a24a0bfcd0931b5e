// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"iter"
	"maps"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/examples/testbed/podhistory"
	"github.com/podwright/podwright/examples/testbed/podstate"
	"github.com/podwright/podwright/lifecycle/readiness"
)

// check is one promise, what was measured, and whether it held. A promise that could not be checked, because nothing was seen,
// counts as broken too.
type check struct {
	ok bool
	// text says it with its figures, such as "10 of 10 pods kept their UID".
	text string
}

// promise is something that shall hold of so many pods, and be wrong of none.
type promise struct {
	pods int    // or some
	text string // with the figures of those of which it holds, and of all
	of   func(*podhistory.Track) (holds, wrong bool)
}

// checks compares what became of the pods since an act began, after as many changes, with what it promises, and with what all
// acts do that find their pods there. In the end the pods are as the API server lists them, read afresh: watches may be wrong.
func checks(changes []podhistory.Change, since int, final []corev1.Pod, act act) (all []check) {
	tracks := podhistory.Tracks(changes, since)
	for _, t := range tracks {
		t.Gone = true // unless it is listed
	}
	for i := range final {
		pod := &final[i]
		if tracks[pod.UID] == nil {
			tracks[pod.UID] = &podhistory.Track{Created: true}
		}
		tracks[pod.UID].States, tracks[pod.UID].Gone = append(tracks[pod.UID].States, pod), false
	}
	if !act.creates && !act.moves {
		all = append(all, promise{act.pods, "%d of %d pods kept their name and UID, and there were no others", kept}.check(tracks, act.pods))
		maps.DeleteFunc(tracks, func(_ types.UID, t *podhistory.Track) bool { return t.Created })
		all = append(all, promise{act.pods, "%d of %d pods kept their node and their IP", stayed}.check(tracks, act.pods))
	}
	if !act.creates {
		most := mostUnavailable(changes, since, act.pods)
		all = append(all, check{most <= act.missing,
			fmt.Sprintf("at most %d pods were unavailable at any moment (allowed: %d; %d states)", most, act.missing, len(changes)-since)})
	}
	for _, p := range act.promises {
		all = append(all, p.check(tracks, act.pods))
	}
	return all
}

// some is as many pods as there are, and at least one.
const some = -1

// check counts the pods of which a promise holds, of all that there shall be.
func (p promise) check(tracks map[types.UID]*podhistory.Track, all int) check {
	kept, broken := 0, []string(nil)
	for _, t := range tracks {
		holds, wrong := p.of(t)
		if holds {
			kept++
		}
		if wrong {
			broken = append(broken, t.States[0].Name)
		}
	}
	slices.Sort(broken)
	text := fmt.Sprintf(p.text, kept, all)
	if len(broken) > 0 {
		text += "; not: " + strings.Join(broken, ", ")
	}
	return check{(kept == p.pods || p.pods == some && kept > 0) && len(broken) == 0, text}
}

// inPlace is what workloads promise where so many pods get another image.
func inPlace(updates int) []promise {
	return append(exchange(updates), promise{updates, "%d of %d pods were not Ready while their container was exchanged", shielded})
}

// exchange is promised where the first container of so many pods gets another image.
func exchange(updates int) []promise {
	return []promise{
		{updates, "%d of %d containers restarted in place, none of them twice", restarted},
		{replicas, "%d of %d pods are Ready with the image " + path.Base(newImage), serves},
	}
}

// mostUnavailable returns the most pods, of so many, that were unavailable at any moment.
func mostUnavailable(changes []podhistory.Change, since, pods int) (most int) {
	podhistory.Replay(changes, since, func(all map[types.UID]*corev1.Pod, _ podhistory.Change) {
		most = max(most, pods-available(maps.Values(all)))
	})
	return most
}

// available counts the pods that serve, and will go on to.
func available(pods iter.Seq[*corev1.Pod]) (n int) {
	for pod := range pods {
		if readiness.Ready(pod) && pod.DeletionTimestamp == nil {
			n++
		}
	}
	return n
}

// kept: it was there before, and is the same now.
func kept(t *podhistory.Track) (holds, wrong bool) {
	holds = !t.Created && !t.Deleted && !t.Gone
	return holds, !holds
}

// stayed: it was in the same place at every moment.
func stayed(t *podhistory.Track) (holds, wrong bool) {
	holds = !t.Gone && len(t.Places()) == 1
	return holds, !holds
}

// restarted: one of its containers did, once. It may be a pod of which none did.
func restarted(t *podhistory.Track) (holds, wrong bool) {
	n := restarts(t.States[len(t.States)-1]) - restarts(t.States[0])
	return n == 1 && !t.Gone, n < 0 || n > 1 || t.Gone
}

// restarts counts those of all containers of a pod.
func restarts(pod *corev1.Pod) (n int32) {
	for i := range pod.Status.ContainerStatuses {
		n += pod.Status.ContainerStatuses[i].RestartCount
	}
	return n
}

// serves: it is Ready with the image that it shall have in the end, in another container where one restarted.
func serves(t *podhistory.Track) (holds, wrong bool) {
	first, last := t.States[0], t.States[len(t.States)-1]
	main := last.Spec.Containers[0]
	before, after := podstate.ContainerStatus(first, main.Name).ContainerID, podstate.ContainerStatus(last, main.Name).ContainerID
	same := restarts(first) == restarts(last)
	holds = !t.Gone && readiness.Ready(last) && main.Image == newImage && after != "" && (after == before) == same
	return holds, !holds
}

// shielded: from when it got another image it was out of service, until its container had restarted. It may be a pod that got none.
func shielded(t *podhistory.Track) (holds, wrong bool) {
	first, updated := t.States[0], false
	for _, pod := range t.States {
		updated = updated || pod.Spec.Containers[0].Image != first.Spec.Containers[0].Image
		holds = holds || updated && !readiness.Ready(pod)
		wrong = wrong || updated && readiness.Ready(pod) && restarts(pod) == restarts(first)
	}
	return holds && !wrong, wrong
}

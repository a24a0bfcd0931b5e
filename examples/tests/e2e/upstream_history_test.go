// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/examples/tests/testbed/podhistory"
	"github.com/podwright/podwright/examples/tests/testbed/podstate"
)

// playHistory is what has become of the pods of a namespace.
type playHistory struct {
	podhistory.History
	checked int // how many of the events a play has looked at
}

// event is something that happened to a pod, and when, in the API server's time of whole seconds.
type event struct {
	what string
	at   time.Time
}

// events returns what has happened so far, in order.
func (h *playHistory) events() (all []event) {
	for _, c := range h.Changes() {
		all = append(all, events(c.Old, c.New)...)
	}
	return all
}

// events says what a change of a pod means; most mean nothing here.
func events(before, after *corev1.Pod) (events []event) {
	note := func(happened bool, what string, at time.Time) {
		if happened {
			events = append(events, event{what, at})
		}
	}
	if before == nil {
		note(true, fmt.Sprintf("create %s %s", after.Name, imageOf(after)), after.CreationTimestamp.Time)
		return events
	}
	if after == nil {
		note(true, "gone "+before.Name, time.Time{})
		return events
	}
	turned := podstate.Condition(after, corev1.PodReady).LastTransitionTime.Time
	note(!ready(before) && ready(after), "ready "+after.Name, turned)
	note(ready(before) && !ready(after), "unready "+after.Name, turned)
	note(before.DeletionTimestamp == nil && after.DeletionTimestamp != nil, "delete "+after.Name, deletedAt(after))
	had, has := metav1.GetControllerOf(before), metav1.GetControllerOf(after)
	note(had != nil && has == nil, "release "+after.Name, time.Time{})
	note(had == nil && has != nil, "adopt "+after.Name, time.Time{})
	note(imageOf(before) != imageOf(after), fmt.Sprintf("set image %s %s", after.Name, imageOf(after)), time.Time{})
	return events
}

func imageOf(pod *corev1.Pod) string { return pod.Spec.Containers[0].Image }

// deletedAt returns when a pod was deleted; its timestamp says when its grace ends.
func deletedAt(pod *corev1.Pod) time.Time {
	if pod.DeletionTimestamp == nil {
		return time.Time{}
	}
	return pod.DeletionTimestamp.Add(-time.Duration(*pod.DeletionGracePeriodSeconds) * time.Second)
}

// unchecked returns the events since the last check.
func (h *playHistory) unchecked() []string {
	var unchecked []string
	for _, event := range h.events()[h.checked:] {
		unchecked = append(unchecked, event.what)
	}
	return unchecked
}

// check returns the n events since the last check, or more of them, once there are so many.
func (p *play) check(n int) []string {
	p.Helper()
	var events []string
	p.Await(fmt.Sprintf("%d events", n), func() string {
		if events = p.history.unchecked(); len(events) < n {
			return fmt.Sprintf("%q", events)
		}
		return ""
	})
	p.history.checked += len(events)
	return events
}

// forget makes what happened so far not count in the next check.
func (p *play) forget() { p.check(0) }

// happened waits for as many events since the last check as are wanted. It fails if others happened, or in another order.
// That a pod is replaced, as in "replace web-2 web:2", are four events.
func (p *play) happened(wanted ...string) {
	p.Helper()
	wanted = unfold(wanted)
	if diff := cmp.Diff(wanted, p.check(len(wanted)), cmpopts.EquateEmpty()); diff != "" {
		p.Errorf("what happened (-wanted +observed):\n%s", diff)
	}
}

// happenedInAnyOrder is happened if the order is not guaranteed.
func (p *play) happenedInAnyOrder(wanted ...string) {
	p.Helper()
	wanted = unfold(wanted)
	observed := p.check(len(wanted))
	slices.Sort(wanted)
	slices.Sort(observed)
	if diff := cmp.Diff(wanted, observed); diff != "" {
		p.Errorf("what happened, sorted (-wanted +observed):\n%s", diff)
	}
}

// unfold puts the events of a replacement in its place.
func unfold(wanted []string) (events []string) {
	for _, event := range wanted {
		if what, replaced := strings.CutPrefix(event, "replace "); replaced {
			pod, _, _ := strings.Cut(what, " ")
			events = append(events, "delete "+pod, "gone "+pod, "create "+what, "ready "+pod)
		} else {
			events = append(events, event)
		}
	}
	return events
}

// neverActedWithin fails if a pod was created or deleted sooner than that after another one had become Ready.
func (p *play) neverActedWithin(least time.Duration) {
	p.Helper()
	all := p.history.events()
	for i, next := range all[1:] {
		was := all[i]
		if passed := next.at.Sub(was.at); strings.HasPrefix(was.what, "ready ") && passed < least {
			p.Errorf("expected %v between %q and %q, observed %v", least, was.what, next.what, passed)
		}
	}
}

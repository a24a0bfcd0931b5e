// SPDX-License-Identifier: Apache-2.0

package heldup

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/lifecycle/readiness"
)

// Condition is the type of the condition. It is True or absent.
const Condition = "HeldUp"

// After is how long something is held up before the condition says so.
const After = time.Minute

const (
	mostNamed = 3   // further objects that a message names
	mostText  = 512 // bytes of a text that others wrote
)

// Told is what the condition says. A nil Told stands for no condition.
type Told struct {
	Reason, Message string
	// Since is when the hold began.
	Since time.Time
}

// Since is when holds began, as far as that is known.
type Since map[rollout.Subject]time.Time

// Tell chooses what the condition says. Of the holds that have lasted for After, those of pods and other objects come first,
// and of them the one that began first. Nil: none has lasted so long. standing is what the condition says now, nil if there
// is none. Its time counts, so that a manager that has begun anew goes on with it. Tell notes in each of the holds since
// when it is there.
func Tell(holds []rollout.Wait, known Since, standing *Told, now time.Time) *Told {
	var told *rollout.Wait
	var since time.Time
	var objects []string
	for i := range holds {
		h := &holds[i]
		began := began(h, known, now)
		if standing.names(h) && standing.Since.Before(began) {
			began = standing.Since
		}
		h.Since = began
		if now.Sub(began) < After || IsBehind(*h) && !allBehind(holds) {
			continue
		}
		if h.Kind != "" {
			objects = append(objects, h.Name)
		}
		if told == nil || h.Kind != "" && told.Kind == "" || (h.Kind == "") == (told.Kind == "") && began.Before(since) {
			told, since = h, began
		}
	}
	if told == nil {
		return nil
	}
	rule, why := words(told)
	if told.Kind != "" {
		why = fmt.Sprintf("%s %s%s: %s%s", told.Kind, told.Name, further(objects, told.Name), why, whatWaits(holds))
	}
	return &Told{Reason: string(rule), Message: why, Since: since.Truncate(time.Second)}
}

// IsBehind tells whether a hold follows from others.
func IsBehind(h rollout.Wait) bool { return h.Kind == "" && Of(rollout.Rule(h.Name)).Scope == Behind }

// allBehind tells whether there is no hold from which others may follow.
func allBehind(holds []rollout.Wait) bool {
	return !slices.ContainsFunc(holds, func(h rollout.Wait) bool { return !IsBehind(h) })
}

// began is when a hold began: as remembered, or since when the pod is not ready, or now.
func began(h *rollout.Wait, known Since, now time.Time) time.Time {
	if at, is := known[h.Subject]; is {
		return at
	}
	if h.Pod == nil || h.Pod.DeletionTimestamp != nil || h.Reason != nil {
		return now
	}
	at := h.Pod.CreationTimestamp.Time
	if c := readiness.Condition(h.Pod, corev1.PodReady); c != nil && c.LastTransitionTime.After(at) {
		at = c.LastTransitionTime.Time
	}
	if at.IsZero() || at.After(now) || readiness.Ready(h.Pod) {
		return now
	}
	return at
}

// words are the reason and the text of a hold.
func words(h *rollout.Wait) (rollout.Rule, string) {
	if h.Pod != nil {
		t := OfPod(h.Pod)
		if t.Rule == "" && h.Reason == nil {
			t = trouble(MinReadySeconds, "the pod is ready, and minReadySeconds are not over")
		}
		if t.Rule != "" && (h.Reason == nil || t.Rule != NotReady && t.Rule != ReadinessGate) {
			return t.Rule, ofPod(h) + cut(t.Why)
		}
	}
	return h.Reason.Rule, ofPod(h) + cut(h.Reason.String())
}

// ofPod names the pod of a hold that is about another object.
func ofPod(h *rollout.Wait) string {
	if h.Pod == nil || h.Kind == "pod" {
		return ""
	}
	return "pod " + h.Pod.Name + ": "
}

// further names some of the other objects that are told.
func further(objects []string, but string) string {
	objects = slices.DeleteFunc(objects, func(name string) bool { return name == but })
	switch n := len(objects) - mostNamed; {
	case len(objects) == 0:
		return ""
	case n > 0:
		return fmt.Sprintf(" (and %s, and %d more)", strings.Join(objects[:mostNamed], ", "), n)
	}
	return " (and " + strings.Join(objects, ", ") + ")"
}

// whatWaits says what follows from the holds.
func whatWaits(holds []rollout.Wait) string {
	for i := range holds {
		if IsBehind(holds[i]) {
			return "; " + cut(holds[i].Reason.String())
		}
	}
	return ""
}

// cut shortens a text that others wrote.
func cut(text string) string {
	if len(text) > mostText {
		return strings.ToValidUTF8(text[:mostText], "") + " …"
	}
	return text
}

// names tells whether the condition is about a hold.
func (t *Told) names(h *rollout.Wait) bool {
	switch {
	case t == nil:
		return false
	case h.Kind == "":
		return t.Reason == h.Name
	}
	return object(t.Message) == h.Kind+" "+h.Name
}

// same tells whether a condition need not be written in the place of another one. Then it is about the same object, or for the same
// reason about the whole. Another text about an object is not worth a write, nor is another reason, but the first one that names a
// cause. A container that crashes is waiting one moment and running the next.
func same(before, after *Told) bool {
	was, is := rollout.Rule(before.Reason), rollout.Rule(after.Reason)
	if was == is && Of(was).Scope != Object {
		return true
	}
	return Of(was).Scope == Object && Of(is).Scope == Object && object(before.Message) == object(after.Message) && (was == is || !vague(was) || vague(is))
}

// vague tells whether a reason names no cause.
func vague(rule rollout.Rule) bool {
	return rule == NotReady || rule == Missing || rule == Terminating || rule == MinReadySeconds
}

// object is the object with which a message begins.
func object(message string) string {
	of, _, _ := strings.Cut(message, ": ")
	of, _, _ = strings.Cut(of, " (and ")
	return of
}

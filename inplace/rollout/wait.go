// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Wait is something that should move on and does not: what, why, by which number, and since when. The plans of all kinds list
// such in Waiting, and in Held what keeps the object from its spec. What is in Held for a minute is told by the condition HeldUp.
type Wait struct {
	Subject
	// In is what the subject is a part of, such as the subset of a pod or the request for a container. Nil: the object of the plan.
	In *Subject
	// Pod is the pod that waits, or that the wait is about. It is nil if the plan has none to show, and for pods not created
	// yet.
	Pod *corev1.Pod
	// Reason is why. Nil only in Held: the state of Pod alone says it.
	Reason *Reason
	// Since is when it began, as far as the objects tell or the controller has seen; zero if neither does.
	Since time.Time
}

// Subject names what waits, or what holds an object up, from one plan to the next.
type Subject struct {
	// Kind is that of the object, in lower case, such as pod or node. Empty: the whole object of the plan.
	Kind string
	// Name is that of the object. It is empty for pods not created yet. For the whole object it is empty in Waiting, and the rule in Held.
	Name string
}

// String returns kind and name, as in "node n1"; the kind alone if there is no name, and the other way round.
func (s Subject) String() string {
	if s.Kind == "" || s.Name == "" {
		return s.Kind + s.Name
	}
	return s.Kind + " " + s.Name
}

// PodWaits returns the wait of a pod; nil stands for pods that are not created yet.
func PodWaits(pod *corev1.Pod, reason *Reason) Wait {
	if pod == nil {
		return Wait{Subject: Subject{Kind: "pod"}, Reason: reason}
	}
	return Wait{Subject: Subject{Kind: "pod", Name: pod.Name}, Pod: pod, Reason: reason}
}

// String names what waits and the reason, as in "web-3: maxUnavailable 2: 2 pods are unavailable already". A pod is named by its name
// alone, and the whole object of the plan not at all.
func (w Wait) String() string {
	of := w.Subject.String()
	switch {
	case w.Kind == "pod" && w.Name == "":
		of = "new pods"
	case w.Kind == "pod":
		of = w.Name
	case w.Kind == "":
		of = ""
	}
	if w.In != nil {
		if of != "" {
			of += " of "
		}
		of += w.In.String()
	}
	why := w.Reason.String()
	if of == "" || why == "" {
		return of + why
	}
	return of + ": " + why
}

// Line is the wait as a line of a plan, as in "wait web-3: maxUnavailable 2: …", and "wait: …" for the whole object.
func (w Wait) Line() string {
	if w.Kind == "" && w.In == nil {
		return "wait: " + w.String()
	}
	return "wait " + w.String()
}

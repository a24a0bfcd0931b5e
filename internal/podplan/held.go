// SPDX-License-Identifier: Apache-2.0

package podplan

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/heldup"
)

// Hold lists an object that keeps the workload from its spec: pod is the one whose state says why, if reason is nil.
func (p *Planner) Hold(kind, name string, pod *corev1.Pod, reason *rollout.Reason) {
	p.plan.Held = append(p.plan.Held, rollout.Wait{Subject: rollout.Subject{Kind: kind, Name: name}, Pod: pod, Reason: reason})
}

// HoldPod lists a wanted pod that is not available.
func (p *Planner) HoldPod(pod *corev1.Pod) { p.Hold("pod", p.nameOf(pod), pod, nil) }

// nameOf names a pod; with its namespace if the workload has none.
func (p *Planner) nameOf(pod *corev1.Pod) string {
	if p.Workload.Object.GetNamespace() == "" {
		return pod.Namespace + "/" + pod.Name
	}
	return pod.Name
}

// HoldBad lists the first of the stored values that cannot be used, which admission refuses for new ones.
func (p *Planner) HoldBad(values field.ErrorList) {
	if len(values) == 0 {
		return
	}
	bad := values[0]
	p.Hold("", string(heldup.BadValue), nil, &rollout.Reason{Rule: heldup.BadValue, Message: fmt.Sprintf("%s is %v: %s", bad.Field, bad.BadValue, bad.Detail)})
}

// HoldWaits lists what pods wait for, beside the objects that are listed already. What users asked for is none of it.
func (p *Planner) HoldWaits() {
	var listed map[*corev1.Pod]int // what is held of it, by pod; made when a pod waits for itself
	whole := map[rollout.Rule]bool{}
	acts := !p.plan.Stage.Empty()
	var before *rollout.Reason // of the wait before, if it is not about one pod
	for i := range p.plan.Waiting {
		wait := &p.plan.Waiting[i]
		if wait.Reason == before || wait.Reason == nil {
			continue
		}
		scope := heldup.Of(wait.Reason.Rule).Scope
		if before = wait.Reason; scope == heldup.Object {
			before = nil
		}
		switch scope {
		case heldup.Asked:
		case heldup.Reported:
			acts = true
		case heldup.Object:
			if wait.Pod != nil {
				listed = p.holdWait(listed, wait)
				continue
			}
			fallthrough
		default:
			if !whole[wait.Reason.Rule] {
				whole[wait.Reason.Rule] = true
				p.Hold("", string(wait.Reason.Rule), nil, wait.Reason)
			}
		}
	}
	if acts { // what waits behind that is told of
		p.plan.Held = slices.DeleteFunc(p.plan.Held, heldup.IsBehind)
	}
}

// holdWait lists a pod that waits for something of its own.
func (p *Planner) holdWait(listed map[*corev1.Pod]int, wait *rollout.Wait) map[*corev1.Pod]int {
	if listed == nil {
		listed = make(map[*corev1.Pod]int, len(p.plan.Held))
		for i := range p.plan.Held {
			listed[p.plan.Held[i].Pod] = i
		}
	}
	if i, is := listed[wait.Pod]; is {
		p.plan.Held[i].Reason = wait.Reason
		return listed
	}
	listed[wait.Pod] = len(p.plan.Held)
	p.Hold("pod", p.nameOf(wait.Pod), wait.Pod, wait.Reason)
	return listed
}

// holdUp says in a status what holds the workload up, and since when. A workload that is being deleted keeps what it says. (CS-40)
func (k *Status[S, C, T]) holdUp(p *Planner, observed, status *S) {
	if !slices.Contains(k.Kept, heldup.Condition) || p.Workload.Object.GetDeletionTimestamp() != nil {
		return
	}
	held, conditions := k.heldUp(), k.Fields(status).Conditions
	*conditions = held.Put(*conditions, heldup.Tell(p.plan.Held, p.Began, held.Told(*k.Fields(observed).Conditions), p.At))
}

// heldUp says how HeldUp stands among the conditions of the kind.
func (k *Status[S, C, T]) heldUp() heldup.Conditions[C] {
	return heldup.Conditions[C]{
		Read: func(c *C) (string, heldup.Told) {
			f := k.Condition(c)
			return string(*f.Type), heldup.Told{Reason: *f.Reason, Message: *f.Message, Since: f.LastTransitionTime.Time}
		},
		Make: func(t heldup.Told) (c C) {
			k.set(&c, heldup.Condition, corev1.ConditionTrue, metav1.NewTime(t.Since), t.Reason, t.Message)
			return c
		},
	}
}

// SPDX-License-Identifier: Apache-2.0

package launchpriority

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/lifecycle/launchpriority/barrier"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Plan is what to do about a pod now: data, to be looked at, compared and
// applied. The same Snapshot gives the same Plan. At most one of Create and
// Add is set.
type Plan struct {
	// Create is the ConfigMap to create, with the keys of those whose turn it is.
	Create *corev1.ConfigMap
	// Add lists the keys to add to Snapshot.ConfigMap: those of one priority,
	// and so almost always one.
	Add []string

	// Mark notes on the pod, after that, that all of its keys are written. (LP-18)
	Mark bool

	// Waiting lists the containers whose turn it is not yet, each with the reason. Limit is the priority whose turn it is, and Observed
	// that of the container.
	Waiting []rollout.Wait

	// RequeueAfter is the time after which to look again even without an
	// event about the pod; 0 when only such events can change the plan.
	RequeueAfter time.Duration
	// Problems say what keeps the pod from starting and what to do about it. Empty if nothing does.
	Problems []rollout.Problem
}

// What a container waits for.
const (
	// rulePriority: containers of a higher priority are not ready yet.
	rulePriority rollout.Rule = "LaunchPriority"
	// ruleFormerPod: the ConfigMap of a former pod has yet to go.
	ruleFormerPod rollout.Rule = "FormerPod"
	// ruleForeign: the ConfigMap lacks the key, and does not belong to the pod.
	ruleForeign rollout.Rule = "ForeignConfigMap"
)

// No event tells of a change of a ConfigMap, so a reconcile that waits for one looks
// again. It does so soon for what the garbage collector is about to do, later for what
// only a user can do.
const (
	lookAgainSoon  = time.Second
	lookAgainLater = time.Minute
)

// NewPlan decides which containers of a pod may start now. For a nil Snapshot, or one without
// a Pod, nothing is to be done.
func NewPlan(s *Snapshot) *Plan {
	if s == nil || s.Pod == nil {
		return &Plan{}
	}
	p := &Plan{}
	next, found := s.Features.turnOf(s.Pod)
	if !found {
		return p
	}
	missing := slices.DeleteFunc(slices.Clone(next.keys), s.has)
	rule, reason := rulePriority, fmt.Sprintf("not ready yet, with priority %d: %s", next.priority, strings.Join(next.containers, ", "))
	switch s.relation() {
	case absent:
		p.Create = newConfigMap(s.Pod, missing)
	case own:
		p.Add = missing
	case leaving:
		p.RequeueAfter = lookAgainSoon
		rule, reason = ruleFormerPod, fmt.Sprintf("ConfigMap %s of a former pod has yet to go", s.ConfigMap.Name)
	case foreign:
		if len(missing) > 0 {
			p.RequeueAfter = lookAgainLater
			rule, reason = ruleForeign, fmt.Sprintf("ConfigMap %s lacks %s and does not belong to this pod", s.ConfigMap.Name, strings.Join(missing, ", "))
			p.Problems = rollout.ProblemsOf(fmt.Errorf("%s: want an owner with the UID %s; delete it, and the pod gets one of its own", reason, s.Pod.UID))
		}
	}
	if next.refused && p.RequeueAfter == 0 { // until the kubelet has seen the keys, another client may remove them, and no event tells of it
		p.RequeueAfter = lookAgainLater
	}
	p.wait(s, rollout.Reason{Rule: rule, Limit: int32(next.priority), Message: reason})
	p.Mark = s.Features.MarkCompleted && s.Pod.Annotations[lifecyclev1alpha1.LaunchPriorityCompletedAnnotation] != "true" && p.completes(s)
	return p
}

// completes tells whether no container is left that waits for a key, when the plan is applied. (LP-18)
func (p *Plan) completes(s *Snapshot) bool {
	if is := s.relation(); is == leaving || is == foreign && len(p.Problems) > 0 {
		return false
	}
	for i := range s.Pod.Spec.Containers {
		c := &s.Pod.Spec.Containers[i]
		keys, _ := barriersOf(s.Pod, c)
		status := podstate.ContainerStatus(s.Pod, c.Name)
		if status != nil && (status.Ready || done(s.Pod, c, status)) {
			continue
		}
		if slices.ContainsFunc(keys, func(key string) bool { return !s.has(key) && !p.writes(key) }) {
			return false
		}
	}
	return true
}

// wait lists the containers that are held back.
func (p *Plan) wait(s *Snapshot, reason rollout.Reason) {
	for i := range s.Pod.Spec.Containers {
		c := &s.Pod.Spec.Containers[i]
		keys, priority := barriersOf(s.Pod, c)
		status := podstate.ContainerStatus(s.Pod, c.Name)
		held := slices.ContainsFunc(keys, func(key string) bool { return !s.has(key) && !p.writes(key) })
		if held && (status == nil || !status.Ready) {
			of := reason
			of.Observed = int32(priority)
			p.Waiting = append(p.Waiting, rollout.Wait{Subject: rollout.Subject{Kind: "container", Name: c.Name}, Pod: s.Pod, Reason: &of})
		}
	}
}

// writes tells whether the plan writes a key.
func (p *Plan) writes(key string) bool {
	if p.Create != nil {
		_, found := p.Create.Data[key]
		return found
	}
	return slices.Contains(p.Add, key)
}

// newConfigMap makes the ConfigMap of a pod. It does not block the deletion of
// the pod, and goes with it.
func newConfigMap(pod *corev1.Pod, keys []string) *corev1.ConfigMap {
	c := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: pod.Namespace, Name: barrier.ConfigMapName(pod.Name),
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID}},
		},
		Data: map[string]string{},
	}
	for _, key := range keys {
		c.Data[key] = released
	}
	return c
}

// released is the value of every key. Only that the key is there matters.
const released = "true"

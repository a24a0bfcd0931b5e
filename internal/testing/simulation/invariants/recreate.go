// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// recreating is a ContainerRecreateRequest at a moment, and the pod of its name.
type recreating struct {
	*v1alpha1.ContainerRecreateRequest
	state *State
	pod   *corev1.Pod // nil if there is none, or if it is another one
}

func recreatingOf(s *State) *recreating {
	request, ok := s.Workload.(*v1alpha1.ContainerRecreateRequest)
	if !ok {
		return nil
	}
	r := &recreating{ContainerRecreateRequest: request, state: s}
	if pod := s.Pods[request.Spec.PodName]; pod != nil && pod.UID == types.UID(request.Labels[v1alpha1.ContainerRecreateRequestPodUIDLabel]) {
		r.pod = pod
	}
	return r
}

func (r *recreating) over() bool { return r.DeletionTimestamp != nil || r.Status.CompletionTime != nil }

// guarded tells whether the request cannot go before its pod is back in service.
func (r *recreating) guarded() bool {
	return slices.Contains(r.Finalizers, v1alpha1.ContainerRecreateRequestUnreadyAcquiredFinalizer)
}

// outOfService is a reason for which a pod is out of service. (PR-4)
type outOfService struct{ UserAgent, Key string }

func (r *recreating) reason() outOfService {
	return outOfService{v1alpha1.ContainerRecreateRequestUserAgent, r.Namespace + "/" + r.Name}
}

func reasonsOf(pod *corev1.Pod) (all []outOfService) {
	if c := condition(pod, v1alpha1.KruisePodReady); c != nil && c.Status == corev1.ConditionFalse {
		_ = json.Unmarshal([]byte(c.Message), &all) // otherwise there are none
	}
	return all
}

// Recreate judges a write of the manager of a ContainerRecreateRequest. (CRR-4)
func Recreate(w *Write) []Violation {
	var v violations
	truth := recreatingOf(w.Truth)
	known := recreatingOf(w.asKnown())
	before, after := objects[*v1alpha1.ContainerRecreateRequest](w)
	checkPrecise(&v, w)
	switch {
	case known == nil:
		v.add(Needless, "%s of %s %s for no request", w.Verb, w.Resource, w.name())
	case w.Resource == "pods" && w.Subresource == "status" && w.Verb == "patch":
		known.checkPod(&v, w, truth)
	case w.Resource != "containerrecreaterequests" || before == nil:
		v.add(Spec, "%s of %s/%s is none of its business", w.Verb, w.Resource, w.Subresource)
	case w.Verb == "delete":
		ttl, end := known.Spec.TTLSecondsAfterFinished, known.Status.CompletionTime // it has been completed for as long as it says (CRR-M1.4)
		v.never(!expired(end, ttl, w.Truth.Now), Needless, "the request is deleted, which was completed at %v, ttlSecondsAfterFinished %v", end, ttl)
	case after == nil || after.UID != known.UID: // the last finalizer went
	case w.Subresource == "status":
		known.checkStatusWrite(&v, w, before, after)
	default:
		known.checkMetadata(&v, w, before, after)
	}
	return v
}

// checkPod: a pod is taken out of service for a request that is guarded and that the agent works on. It is put back once the
// request is over. Nothing else about the pod changes. (CRR-4.2)
func (r *recreating) checkPod(v *violations, w *Write, truth *recreating) {
	before, after := w.pods()
	if after == nil {
		return
	}
	checkPodStatus(v, before, after)
	v.never(!equality.Semantic.DeepEqual(before.Spec, after.Spec) || !maps.Equal(before.Labels, after.Labels) ||
		!maps.Equal(before.Annotations, after.Annotations), Spec, "more of pod %s is written than its condition", before.Name)
	had, has := reasonsOf(before), reasonsOf(after)
	v.never(!slices.Equal(without(had, r.reason()), without(has, r.reason())), Ownership,
		"reasons of others for which pod %s is out of service change from %v to %v", before.Name, had, has)
	c := condition(after, v1alpha1.KruisePodReady)
	v.never(c == nil || (c.Status == corev1.ConditionTrue) != (len(has) == 0), Availability,
		"pod %s has the reasons %v to be out of service, and the condition %+v", before.Name, has, c)
	was, is := slices.Contains(had, r.reason()), slices.Contains(has, r.reason())
	switch {
	case !was && is && !hasGate(before, v1alpha1.KruisePodReady):
		v.add(Needless, "pod %s is taken out of service, and has no gate for that", before.Name)
	case !was && is && (r.Spec.Strategy == nil || r.Spec.Strategy.UnreadyGracePeriodSeconds == nil || r.Status.Phase != v1alpha1.ContainerRecreateRequestRecreating || r.over()):
		v.add(Availability, "pod %s is taken out of service for a request in the phase %q that does not ask for it", before.Name, r.Status.Phase)
	case !was && is && (truth == nil || truth.UID == r.UID && !truth.guarded() && !truth.over()):
		v.add(Availability, "pod %s is taken out of service for a request that may vanish without putting it back", before.Name)
	case was && !is && !r.over():
		v.add(Availability, "pod %s is put back into service, and its request is not over", before.Name)
	}
}

// checkStatusWrite: a request is completed for a reason that holds, and its containers are told of as the agent has left them. (CRR-M2 to CRR-M4, CRR-M8, CRR-M9)
func (r *recreating) checkStatusWrite(v *violations, w *Write, before, after *v1alpha1.ContainerRecreateRequest) {
	if before.Status.CompletionTime != nil || after.Status.CompletionTime == nil {
		was, is := before.Status.DeepCopy(), after.Status.DeepCopy()
		was.Message, is.Message, is.ObservedGeneration = "", "", was.ObservedGeneration
		v.never(!equality.Semantic.DeepEqual(was, is) || !waits(after.Status.Message) && after.Status.Message != "", Status,
			"more is written than what holds the request up: %+v, before %+v", after.Status, before.Status)
		return
	}
	v.never(after.Status.Phase != v1alpha1.ContainerRecreateRequestCompleted || after.Status.ObservedGeneration != after.Generation, Status,
		"the request is completed, and its phase is %s, observedGeneration %d", after.Status.Phase, after.Status.ObservedGeneration)
	for i, was := range before.Status.ContainerRecreateStates {
		is := after.Status.ContainerRecreateStates[i]
		if lost := was.Phase == v1alpha1.ContainerRecreateRequestRecreating; lost && is.Phase != v1alpha1.ContainerRecreateRequestFailed || !lost && is != was {
			v.add(Status, "container %s is %s, and %s when the request ends", was.Name, was.Phase, is.Phase)
		}
	}
	r.checkReason(v, w, after.Status.Message)
}

func (r *recreating) checkReason(v *violations, w *Write, message string) {
	age, truth, holds := w.Truth.Now.Sub(r.CreationTimestamp.Time), recreatingOf(w.Truth), false
	switch message {
	case v1alpha1.ContainerRecreateMessagePodGone: // which stays so
		holds = truth == nil || truth.pod == nil || truth.pod.DeletionTimestamp != nil
	case v1alpha1.ContainerRecreateMessageStaticPod:
		holds = r.pod != nil && r.pod.Annotations[corev1.MirrorPodAnnotationKey] != ""
	case v1alpha1.ContainerRecreateMessageDeadline:
		holds = expired(&r.CreationTimestamp, r.Spec.ActiveDeadlineSeconds, w.Truth.Now)
	case v1alpha1.ContainerRecreateMessageNoResponse:
		holds = r.Status.Phase == "" && age >= time.Minute ||
			r.Status.Phase == v1alpha1.ContainerRecreateRequestRecreating && r.guarded() && age >= 10*time.Minute
	}
	v.never(!holds, Status, "the request is completed after %v in the phase %q: %q", age, r.Status.Phase, message)
}

// waits tells whether a message says what holds a request up. (CRR-7)
func waits(message string) bool { return strings.HasPrefix(message, "held up since ") }

// checkMetadata: the manager tells the agent which containers have been replaced, and from when the pod is out of service. It guards
// the request for that long. Labels and annotations of others stay. (CRR-4.1, CRR-4.2, CRR-M1)
func (r *recreating) checkMetadata(v *violations, w *Write, before, after *v1alpha1.ContainerRecreateRequest) {
	const own = v1alpha1.ContainerRecreateRequestUnreadyAcquiredFinalizer
	truth := recreatingOf(w.Truth)
	v.never(!equality.Semantic.DeepEqual(before.Spec, after.Spec), Spec, "the spec of the request is written")
	for _, key := range changed(before.Labels, after.Labels) {
		if _, has := after.Labels[key]; key != v1alpha1.ContainerRecreateRequestActiveLabel || has || before.Status.CompletionTime == nil {
			v.add(Spec, "the label %s changes, and the request is in the phase %s", key, before.Status.Phase)
		}
	}
	for _, key := range changed(before.Annotations, after.Annotations) {
		switch value := after.Annotations[key]; key {
		case v1alpha1.ContainerRecreateRequestSyncContainerStatusesAnnotation:
			r.checkReport(v, value)
		case v1alpha1.ContainerRecreateRequestUnreadyAcquiredAnnotation:
			r.checkAcquired(v, truth, value)
		case v1alpha1.ContainerRecreateRequestCompletionSeenAnnotation:
			v.never(r.Status.CompletionTime == nil || r.Spec.TTLSecondsAfterFinished == nil, Needless,
				"the completion of a request is noted that is not completed, or stays")
		default:
			v.add(Spec, "the annotation %s changes", key)
		}
	}
	had, has := slices.Contains(before.Finalizers, own), slices.Contains(after.Finalizers, own)
	v.never(!slices.Equal(without(before.Finalizers, own), without(after.Finalizers, own)), Spec,
		"finalizers of others change from %v to %v", before.Finalizers, after.Finalizers)
	out := truth.pod != nil && truth.pod.DeletionTimestamp == nil && slices.Contains(reasonsOf(truth.pod), r.reason())
	v.never(had && !has && (!r.over() || out), Availability, "the request is not guarded any more, and its pod is out of service for it")
}

// checkReport judges what the agent is told of the containers. (CRR-4.1)
func (r *recreating) checkReport(v *violations, told string) {
	if r.pod == nil || r.Status.Phase != v1alpha1.ContainerRecreateRequestRecreating {
		v.add(Needless, "the agent is told of containers in the phase %q", r.Status.Phase)
		return
	}
	report := []v1alpha1.ContainerRecreateRequestSyncContainerStatus{}
	for _, of := range r.Spec.Containers {
		is := statusOf(r.pod, of.Name)
		if is.State.Running != nil && (of.StatusContext == nil || of.StatusContext.ContainerID != is.ContainerID) {
			report = append(report, v1alpha1.ContainerRecreateRequestSyncContainerStatus{
				Name: is.Name, Ready: is.Ready, RestartCount: is.RestartCount, ContainerID: is.ContainerID})
		}
	}
	data, _ := json.Marshal(report)
	v.never(string(data) != told, Status, "the agent is told %s, and there is %s", told, data)
}

// checkAcquired: the agent is told when the pod is out of service, if it can be, and that is not before it is. (CRR-4.2.3)
func (r *recreating) checkAcquired(v *violations, truth *recreating, told string) {
	if s := r.Spec.Strategy; s == nil || s.UnreadyGracePeriodSeconds == nil || r.Status.Phase != v1alpha1.ContainerRecreateRequestRecreating {
		v.add(Needless, "the agent is told of an unready pod in the phase %q, which the request does not ask for", r.Status.Phase)
	}
	now := truth.state.Now
	if at, err := time.Parse(time.RFC3339, told); err != nil || at.Before(r.state.Now) || at.After(now.Add(time.Second)) {
		v.add(Status, "the pod is said to be out of service from %s on, and it is %v", told, now)
	}
	if pod := truth.pod; pod != nil && hasGate(pod, v1alpha1.KruisePodReady) && (!truth.guarded() || !slices.Contains(reasonsOf(pod), r.reason())) {
		v.add(Availability, "the agent is told that pod %s is out of service, and it is for %v", pod.Name, reasonsOf(pod))
	}
}

// RecreateSettled judges a request that has settled. It is over, has put its pod back and goes if it is to; or it says
// what it waits for. What is refused is told by events alone, since a request has no conditions. (CRR-M1, CRR-7)
func RecreateSettled(s *State, _ bool) []Violation {
	var v violations
	r, refused := recreatingOf(s), s.refuses("patch", "pods")
	for _, pod := range s.Pods {
		for _, reason := range reasonsOf(pod) {
			ours := reason.UserAgent == v1alpha1.ContainerRecreateRequestUserAgent && !refused && active(pod)
			v.never(ours && (r == nil || r.over() || reason != r.reason() || r.pod != pod), Availability,
				"pod %s is out of service for the request %s, which is over", pod.Name, reason.Key)
		}
	}
	switch {
	case r == nil, refused, s.refuses("patch", "containerrecreaterequests"):
	case !r.over():
		v.never(!waits(r.Status.Message), Settled,
			"the request is in the phase %q, and says %q", r.Status.Phase, r.Status.Message)
	case r.guarded():
		v.add(Settled, "the request is over, and has the finalizers %v", r.Finalizers)
	case r.DeletionTimestamp != nil: // others hold it
	case r.Labels[v1alpha1.ContainerRecreateRequestActiveLabel] != "":
		v.add(Settled, "the request is completed, and active")
	case waits(r.Status.Message):
		v.add(Status, "the request is completed, and says %q", r.Status.Message)
	case r.Spec.TTLSecondsAfterFinished != nil && s.Now.Sub(r.Status.CompletionTime.Time) > time.Duration(*r.Spec.TTLSecondsAfterFinished+60)*time.Second:
		v.add(Settled, "the request is completed since %v, and is there, ttlSecondsAfterFinished %d", r.Status.CompletionTime, *r.Spec.TTLSecondsAfterFinished)
	}
	return v
}

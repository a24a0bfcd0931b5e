// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// debugging is an EphemeralJob and its pods at a moment. Its containers keep their names.
type debugging struct {
	*v1alpha1.EphemeralJob
	state *State
	// pods are those that it may be for, with containers of its own first, and others without the names that it
	// would inject.
	injected, free []*corev1.Pod
	// since is when pods got containers of a job.
	since map[types.UID]time.Time
}

// EphemeralJobs judges the controller of EphemeralJobs in one history.
type EphemeralJobs struct{ since map[types.UID]time.Time }

// placeHeld is how long containers that do not run hold the place of their pod. (EJ-9)
const placeHeld = 2 * time.Minute

func debuggingOf(s *State) *debugging {
	job, ok := s.Workload.(*v1alpha1.EphemeralJob)
	if !ok {
		return nil
	}
	d := &debugging{EphemeralJob: job, state: s}
	for _, pod := range s.Pods {
		if !active(pod) || !matches(job.Spec.Selector, pod.Labels) {
			continue
		}
		if len(d.own(pod)) > 0 {
			d.injected = append(d.injected, pod)
		} else if !d.taken(pod) {
			d.free = append(d.free, pod)
		}
	}
	return d
}

// own are the ephemeral containers of a pod that this run of the job has injected. (EJ-7)
func (d *debugging) own(pod *corev1.Pod) []corev1.EphemeralContainer {
	return among(slices.Values(pod.Spec.EphemeralContainers), func(c corev1.EphemeralContainer) bool {
		return slices.Contains(c.Env, corev1.EnvVar{Name: v1alpha1.EphemeralJobEnv, Value: string(d.UID)})
	})
}

// taken tells whether a pod has a container of a name of the template. (EJ-5)
func (d *debugging) taken(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.EphemeralContainers, func(c corev1.EphemeralContainer) bool {
		return slices.ContainsFunc(d.Spec.Template.EphemeralContainers, func(of corev1.EphemeralContainer) bool { return of.Name == c.Name })
	})
}

// far counts how far the containers of the job in a pod are. (EJ-15)
func (d *debugging) far(pod *corev1.Pod) (failed, succeeded, running, waiting bool) {
	succeeded = true
	for _, c := range d.own(pod) {
		named := func(s *corev1.ContainerStatus) bool { return s.Name == c.Name }
		is := ptr.Deref(first(pod.Status.EphemeralContainerStatuses, named), corev1.ContainerStatus{}).State
		succeeded = succeeded && is.Terminated != nil && is.Terminated.ExitCode == 0
		failed = failed || is.Terminated != nil && is.Terminated.ExitCode != 0 || is.Waiting != nil && is.Waiting.Reason == "RunContainerError"
		running = running || is.Running != nil
		waiting = waiting || is.Waiting != nil
	}
	return failed, succeeded, running, waiting
}

// underWay counts the pods whose containers have not come to an end, but for those in which none has run for a while. (EJ-9)
func (d *debugging) underWay() (n int) {
	for _, pod := range d.injected {
		failed, succeeded, running, _ := d.far(pod)
		since, known := d.since[pod.UID]
		count(&n, !failed && !succeeded && (!known || running || since.Add(placeHeld).After(d.state.Now)))
	}
	return n
}

func (d *debugging) ended() bool {
	return !slices.ContainsFunc(d.injected, func(pod *corev1.Pod) bool {
		failed, succeeded, _, _ := d.far(pod)
		return !failed && !succeeded
	})
}

func (d *debugging) limit() int {
	if d.Spec.Replicas == nil {
		return len(d.injected) + len(d.free)
	}
	return max(int(*d.Spec.Replicas), 0)
}

// overdue tells whether the deadline has passed. (EJ-18)
func (d *debugging) overdue() bool {
	return expired(d.Status.StartTime, d.Spec.ActiveDeadlineSeconds, d.state.Now)
}

// Write judges a write of the controller of an EphemeralJob.
func (e *EphemeralJobs) Write(w *Write) []Violation {
	var v violations
	d := debuggingOf(w.asKnown())
	before, after := w.pods()
	switch {
	case d == nil:
		v.add(Needless, "%s of %s %s for no EphemeralJob", w.Verb, w.Resource, w.name())
	case w.Resource == "pods" && w.Verb == "patch" && w.Subresource == "ephemeralcontainers" && before != nil && after != nil:
		if d.since = e.since; e.since == nil {
			e.since = map[types.UID]time.Time{}
		}
		d.checkInjection(&v, w)
		e.since[before.UID] = w.Truth.Now
	case w.Resource == "ephemeraljobs" && w.Subresource == "status" && w.Verb == "patch":
		checkJobStatus(&v, w)
	case w.Resource == "ephemeraljobs" && w.Subresource == "" && w.Verb == "patch":
		d.checkFinalizer(&v, w)
	case w.Resource == "ephemeraljobs" && w.Verb == "delete":
		d.checkEnd(&v, w)
	default:
		v.add(Spec, "%s of %s/%s is none of its business", w.Verb, w.Resource, w.Subresource)
	}
	return v
}

// checkInjection judges that a pod gets its containers. (EJ-9, EJ-10, EJ-12, EJ-17, EJ-18)
func (d *debugging) checkInjection(v *violations, w *Write) {
	before, after := w.pods()
	known := w.knownPod()
	if known == nil || w.Asked != nil && w.Asked.UID != string(before.UID) {
		v.add(Ownership, "containers are injected into whatever pod has the name %s", before.Name)
		return
	}
	v.never(d.Status.CompletionTime != nil || d.DeletionTimestamp != nil || d.overdue(), Needless,
		"pod %s gets containers of a job that is over", before.Name)
	v.never(d.Spec.Paused, Paused, "pod %s gets containers of a job that is paused", before.Name)
	v.never(!active(known) || !matches(d.Spec.Selector, known.Labels), Placement,
		"pod %s gets containers, and the job is not for it", before.Name)
	v.never(len(d.own(before)) > 0, Identity, "pod %s gets containers of a run a second time", before.Name)
	rest := after.DeepCopy()
	rest.ResourceVersion, rest.ManagedFields, rest.Generation, rest.Spec.EphemeralContainers = before.ResourceVersion, before.ManagedFields, before.Generation, before.Spec.EphemeralContainers
	v.never(!equality.Semantic.DeepEqual(rest, before), Spec,
		"more of pod %s is written than ephemeral containers", before.Name)
	added, own := len(after.Spec.EphemeralContainers)-len(before.Spec.EphemeralContainers), len(d.own(after))
	all := len(d.Spec.Template.EphemeralContainers)
	v.never(added != own || own != all, Spec,
		"pod %s gets %d containers, %d marked as those of the job, which has %d", before.Name, added, own, all)
	more := one(!slices.ContainsFunc(d.injected, func(pod *corev1.Pod) bool { return pod.UID == before.UID }))
	have, n := len(d.injected)+more, d.underWay()+more
	v.never(d.Spec.Replicas != nil && have > d.limit(), Placement, "%d pods have containers of a job that is for %d", have, d.limit())
	limit := int(ptr.Deref(d.Spec.Parallelism, 1))
	v.never(n > limit, Surge, "containers are under way in %d pods, at a parallelism of %d", n, limit)
}

// checkJobStatus judges a status by what the caches of the author held. (EJ-1, EJ-15, EJ-16, EJ-18)
func checkJobStatus(v *violations, w *Write) {
	d := debuggingOf(w.asSeen())
	after, ok := w.After.(*v1alpha1.EphemeralJob)
	if v.wrong(d == nil || !ok || after.UID != d.UID, Ownership, "the status of another job is written") {
		return
	}
	v.never(w.Asked != nil && w.Asked.ResourceVersion == "", Status, "the status is written whatever it has become")
	v.compareGeneration(after.Status.ObservedGeneration, d.Generation)
	if was := d.Status.CompletionTime; was != nil {
		v.never(!was.Equal(after.Status.CompletionTime) || after.Status.Phase != d.Status.Phase, History,
			"a job that has finished is %s now, at %v", after.Status.Phase, after.Status.CompletionTime)
		return
	}
	d.checkCounts(v, &after.Status)
}

// checkCounts judges what a status says of pods, and whether the job is over.
func (d *debugging) checkCounts(v *violations, status *v1alpha1.EphemeralJobStatus) {
	targets := min(len(d.injected)+len(d.free), d.limit())
	want := *status
	want.Matches = int32(targets)
	if len(d.injected) <= targets {
		want.Failed, want.Succeeded, want.Running, want.Waiting = 0, 0, 0, 0
		for _, pod := range d.injected {
			failed, succeeded, running, waiting := d.far(pod)
			count(&want.Failed, failed)
			count(&want.Succeeded, !failed && succeeded)
			count(&want.Running, !failed && !succeeded && running)
			count(&want.Waiting, !failed && !succeeded && !running && waiting)
		}
	}
	v.compare(status, &want)
	d.Status.StartTime = status.StartTime
	ended := status.Matches > 0 && status.Succeeded+status.Failed == status.Matches
	if over := ended || d.overdue() && !d.Spec.Paused; over != (status.CompletionTime != nil) {
		v.add(Status, "of %d pods %d have ended, overdue %t, and the completion time is %v", status.Matches, status.Succeeded+status.Failed, d.overdue(), status.CompletionTime)
	}
	v.never(ended && (status.Failed > 0) != (status.Phase == v1alpha1.EphemeralJobFailed), Status,
		"the job has ended as %s, and %d pods have failed", status.Phase, status.Failed)
}

// checkFinalizer judges that the job gets or loses a finalizer. (EJ-2, EJ-20)
func (d *debugging) checkFinalizer(v *violations, w *Write) {
	before, after := w.Before, w.After
	const own = v1alpha1.EphemeralJobFinalizer
	was := before.GetFinalizers()
	var is []string
	if after != nil {
		is = after.GetFinalizers()
	}
	v.never(slices.Contains(was, own) && !slices.Contains(is, own) && d.DeletionTimestamp == nil, Spec,
		"a job that stays loses its finalizer")
	v.never(!slices.Equal(without(was, own), without(is, own)), Ownership, "the finalizers %v become %v", was, is)
}

// checkEnd judges that a job is deleted. (EJ-19)
func (d *debugging) checkEnd(v *violations, w *Write) {
	v.never(w.Asked != nil && w.Asked.UID != string(d.UID), Ownership, "whatever job has the name is deleted")
	ttl := ptr.Deref(d.Spec.TTLSecondsAfterFinished, v1alpha1.DefaultEphemeralJobTTLSecondsAfterFinished)
	end := d.Status.CompletionTime
	v.never(!expired(end, &ttl, d.state.Now), Needless, "a job that finished at %v is deleted", end)
}

// EphemeralJobSettled judges what there is when nothing more happens, and all containers have ended. Pushed says that the job
// is not held back by anything.
func EphemeralJobSettled(s *State, pushed bool) []Violation {
	var v violations
	d := debuggingOf(s)
	switch {
	case d == nil:
		return nil
	case d.DeletionTimestamp != nil:
		v.never(slices.Contains(d.Finalizers, v1alpha1.EphemeralJobFinalizer), Settled,
			"a job that is being deleted keeps its finalizer")
		return v
	}
	v.never(!slices.Contains(d.Finalizers, v1alpha1.EphemeralJobFinalizer), Settled, "the job has no finalizer")
	v.compareGeneration(d.Status.ObservedGeneration, d.Generation)
	if d.Status.CompletionTime != nil {
		return v
	}
	d.checkCounts(&v, d.Status.DeepCopy())
	if held := d.Spec.Paused || ptr.Deref(d.Spec.Parallelism, 1) <= 0 || s.refuses("patch", "pods"); !held && len(d.free) > 0 && len(d.injected) < d.limit() {
		v.add(Settled, "%d pods have no containers, %d have, and the job is for %d", len(d.free), len(d.injected), d.limit())
	}
	v.never(pushed && len(d.injected)+len(d.free) > 0 && d.limit() > 0 && d.ended(), Settled, "the job goes on")
	return v
}

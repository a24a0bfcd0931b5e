// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

const requestsToStop = "containerrecreaterequests"

// Terminator judges the terminator of sidecars in one history.
type Terminator struct {
	strayed map[types.UID]bool // pods to whose phase others have come than a kubelet by their containers
}

// completing is a pod that runs to completion on a node, as its kubelet has told of it.
type completing struct {
	*corev1.Pod
	virtual         bool
	mains, sidecars []completingContainer
}

type completingContainer struct {
	name, set string // the image that the spec sets
	corev1.ContainerStatus
	request bool   // it is stopped by one
	exit    string // the image that it exits with
	ended   bool   // for good
}

// completingOf is nil for a pod that has no sidecars which are to end. (ST-1, ST-2, ST-7, ST-E1)
func completingOf(pod *corev1.Pod, node *corev1.Node) *completing {
	p := &completing{Pod: pod, virtual: node != nil && node.Labels["type"] == "virtual-kubelet"}
	for _, c := range pod.Spec.Containers {
		is, marked := completingContainer{name: c.Name, set: c.Image, ContainerStatus: statusOf(pod, c.Name)}, false
		for _, e := range c.Env {
			switch {
			case e.Name == v1alpha1.TerminateSidecarEnv && strings.EqualFold(e.Value, "true"):
				marked, is.request = true, !p.virtual
			case e.Name == v1alpha1.TerminateSidecarWithImageEnv && !is.request:
				marked, is.exit = true, e.Value
			}
		}
		end := is.State.Terminated
		is.ended = end != nil && (pod.Spec.RestartPolicy == corev1.RestartPolicyNever || end.ExitCode == 0)
		if marked {
			p.sidecars = append(p.sidecars, is)
		} else {
			p.mains = append(p.mains, is)
		}
	}
	if len(p.sidecars) == 0 || pod.Spec.RestartPolicy == corev1.RestartPolicyAlways {
		return nil
	}
	return p
}

func allEnded(of []completingContainer) bool {
	return !slices.ContainsFunc(of, func(c completingContainer) bool { return !c.ended })
}

// outcome is the phase by the main containers alone; empty if their kubelet decides. (ST-13)
func (p *completing) outcome() corev1.PodPhase {
	switch {
	case p.virtual || len(p.mains) == 0:
		return ""
	case slices.ContainsFunc(p.mains, func(c completingContainer) bool { return c.State.Terminated == nil || c.State.Terminated.ExitCode != 0 }):
		return corev1.PodFailed
	}
	return corev1.PodSucceeded
}

// Observe takes note of pods that get or lose a final phase, and not by their containers.
func (t *Terminator) Observe(c *Change) {
	before, _ := c.Before.(*corev1.Pod)
	after, _ := c.After.(*corev1.Pod)
	if before == nil || after == nil || c.By != "" || before.Status.Phase == after.Status.Phase {
		return
	}
	if p := completingOf(after, nil); p != nil && (ended(before) || ended(after) && !(allEnded(p.mains) && allEnded(p.sidecars))) {
		if t.strayed == nil {
			t.strayed = map[types.UID]bool{}
		}
		t.strayed[after.UID] = true
	}
}

// Write judges a write of the terminator, by what runs and by what its caches held. (ST-2, ST-3)
func (t *Terminator) Write(w *Write) []Violation {
	var v violations
	before, after := w.pods()
	request, _ := w.After.(*lifecyclev1alpha1.ContainerRecreateRequest)
	var seen, truth *corev1.Pod
	switch {
	case w.Resource == "pods" && w.Verb == "patch" && after != nil:
		seen, truth = w.Observed.Pods[before.Name], before
	case w.Resource == requestsToStop && w.Verb == "create" && request != nil:
		seen, truth = w.Observed.Pods[request.Spec.PodName], w.Truth.Pods[request.Spec.PodName]
	}
	if v.wrong(seen == nil, Spec, "%s of %s/%s is about no pod that it has seen", w.Verb, w.Resource, w.Subresource) {
		return v
	}
	if truth == nil || truth.UID != seen.UID { // another one has the name
		truth = seen
	}
	node := w.Observed.Nodes[seen.Spec.NodeName]
	p := completingOf(truth, node)
	switch {
	case p == nil || node == nil || seen.DeletionTimestamp != nil:
		v.add(Needless, "writes about pod %s, which goes, or has nothing that is to be ended", seen.Name)
	case !allEnded(p.mains) || len(seen.Status.ContainerStatuses) < len(seen.Spec.Containers):
		v.add(Availability, "ends sidecars of pod %s, and a main container runs or starts again", seen.Name)
	case request != nil:
		p.checkRequest(&v, w, request, completingOf(seen, node))
	case w.Asked.UID != string(seen.UID):
		v.add(Ownership, "writes to any pod of the name %s", seen.Name)
	case w.Subresource == "status":
		p.checkPhase(&v, w)
	default:
		completingOf(seen, node).checkImages(&v, before, after)
	}
	return v
}

// checkImages: sidecars that have not exited get the images that they exit with, and nothing else changes. (ST-9, ST-10)
func (p *completing) checkImages(v *violations, before, after *corev1.Pod) {
	want := before.DeepCopy()
	for i := range p.sidecars {
		if c := &p.sidecars[i]; c.exit != "" && c.State.Terminated == nil {
			want.Spec.Containers[slices.IndexFunc(want.Spec.Containers, func(of corev1.Container) bool { return of.Name == c.name })].Image = c.exit
		}
	}
	v.never(!equality.Semantic.DeepEqual(want.Spec, after.Spec) || !equality.Semantic.DeepEqual(want.Status, after.Status), Spec,
		"pod %s changes by more or less than the images that its sidecars exit with", before.Name)
}

// checkPhase: a pod that runs gets the phase that its main containers give it, if that is needed. (ST-13 to ST-16)
func (p *completing) checkPhase(v *violations, w *Write) {
	before, after := w.pods()
	given := condition(after, v1alpha1.SidecarTerminatedCondition)
	switch is := after.Status.Phase; {
	case w.Asked.ResourceVersion == "":
		v.add(Ownership, "the phase of pod %s is written whatever has become of it", before.Name)
	case given == nil || given.Status != corev1.ConditionTrue || !equality.Semantic.DeepEqual(before.Status.ContainerStatuses, after.Status.ContainerStatuses):
		v.add(Spec, "more or less of pod %s is written than its phase, and why", before.Name)
	case ended(before):
		v.add(History, "pod %s has ended as %s, and becomes %s", before.Name, before.Status.Phase, is)
	case is != p.outcome():
		v.add(Status, "pod %s becomes %s, and its main containers say %q", before.Name, is, p.outcome())
	case !p.failsBySidecar() && !p.lost(w.Observed):
		v.add(Needless, "pod %s becomes %s, and its sidecars end without that", before.Name, is)
	}
}

// failsBySidecar tells whether the exit code of a sidecar that a request stops would fail a pod that has succeeded. (ST-15)
func (p *completing) failsBySidecar() bool {
	return p.outcome() == corev1.PodSucceeded && p.Spec.RestartPolicy == corev1.RestartPolicyNever &&
		slices.ContainsFunc(p.sidecars, func(c completingContainer) bool { return c.request && c.State.Running != nil })
}

// lost tells whether what was to end the sidecars has come to its end without that, as far as a cache shows. (ST-14)
func (p *completing) lost(s *State) bool {
	request, _ := s.Further[requestsToStop][v1alpha1.SidecarTerminationRequestPrefix+string(p.UID)].(*lifecyclev1alpha1.ContainerRecreateRequest)
	mayEnd := func(c completingContainer) bool {
		switch {
		case c.ended:
			return false
		case !c.request:
			return c.State.Waiting == nil || c.set != c.exit
		case c.State.Running == nil || request == nil:
			return c.State.Running != nil
		}
		longest := time.Minute + time.Duration(int64(len(request.Spec.Containers))*(*p.Spec.TerminationGracePeriodSeconds+10))*time.Second
		return request.Status.CompletionTime == nil && s.Now.Sub(request.CreationTimestamp.Time) < longest &&
			slices.ContainsFunc(request.Spec.Containers, func(of lifecyclev1alpha1.ContainerRecreateRequestContainer) bool {
				return of.Name == c.name && (of.StatusContext == nil || of.StatusContext.ContainerID == c.ContainerID)
			})
	}
	return !allEnded(p.sidecars) && !slices.ContainsFunc(p.sidecars, mayEnd)
}

// checkRequest: a request stops the sidecars of its pod that run, and waits until their exit codes do not count. (ST-11, ST-15.1, ST-15.2)
func (p *completing) checkRequest(v *violations, w *Write, r *lifecyclev1alpha1.ContainerRecreateRequest, seen *completing) {
	var want, got []string
	for _, c := range seen.sidecars {
		if c.request && c.ContainerID != "" && c.State.Terminated == nil {
			want = append(want, c.name)
		}
	}
	for _, c := range r.Spec.Containers {
		got = append(got, c.Name)
	}
	slices.Sort(want)
	owner, given, ready := metav1.GetControllerOfNoCopy(r), condition(p.Pod, v1alpha1.SidecarTerminatedCondition), condition(p.Pod, corev1.ContainersReady)
	known := ready != nil && ready.Reason == "PodCompleted" || given != nil && w.Truth.Now.Sub(given.LastTransitionTime.Time) >= 30*time.Second
	switch {
	case owner == nil || owner.UID != seen.UID || r.Name != v1alpha1.SidecarTerminationRequestPrefix+string(seen.UID):
		v.add(Identity, "request %s about pod %s with the UID %s is %v's", r.Name, seen.Name, seen.UID, owner)
	case len(got) == 0 || !slices.Equal(got, want):
		v.add(Needless, "pod %s is to have the containers %q stopped, and %q run", seen.Name, got, want)
	case p.failsBySidecar() && !known:
		v.add(Order, "sidecars of pod %s are stopped, and its kubelet does not know yet that they do not count", seen.Name)
	}
}

// Settled judges the pod when nothing more happens: its sidecars have ended after its main containers, and these alone have decided
// what becomes of it. (ST-2, ST-13)
func (t *Terminator) Settled(s *State, _ bool) []Violation {
	var v violations
	pod, _ := s.Workload.(*corev1.Pod)
	if pod == nil || pod.DeletionTimestamp != nil || s.Nodes[pod.Spec.NodeName] == nil {
		return nil
	}
	switch p := completingOf(pod, s.Nodes[pod.Spec.NodeName]); {
	case p == nil || !allEnded(p.mains) || p.outcome() == "":
	case ended(pod) && !t.strayed[pod.UID] && pod.Status.Phase != p.outcome():
		v.add(Status, "pod %s has ended as %s, and its main containers say %s", pod.Name, pod.Status.Phase, p.outcome())
	case !ended(pod) && !s.refuses("patch", "pods") && !s.refuses("create", requestsToStop):
		v.add(Settled, "pod %s goes on, and its main containers have ended", pod.Name)
	}
	return v
}

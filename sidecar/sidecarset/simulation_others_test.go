// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/testing/simulation"
)

// injecting has those who create pods act. The webhook injects what the SidecarSets have for a pod; nil: it refuses the pod.
type injecting struct {
	webhook func(*simulation.User, *corev1.Pod) *corev1.Pod
}

// populate creates pods.
func (i injecting) populate(u *simulation.User, r *rand.Rand) {
	for n := range 3 + r.IntN(3) {
		i.createPod(u, r, fmt.Sprint("web-", n))
	}
}

// createPod creates a pod, which the webhook may miss.
func (i injecting) createPod(u *simulation.User, r *rand.Rand, name string) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: simulation.Web.Namespace, Name: name,
		Labels: map[string]string{"app": "web", "ring": []string{"a", "b"}[r.IntN(2)]}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "main:1"}}}}
	if r.IntN(3) == 0 {
		pod.Labels["gate"] = "open"
	}
	if r.IntN(2) == 0 {
		pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: inplacev1alpha1.InPlaceUpdateReady}}
		pod.Status.Conditions = []corev1.PodCondition{{Type: inplacev1alpha1.InPlaceUpdateReady, Status: corev1.ConditionTrue}}
	}
	if missed := r.IntN(10) == 0; !missed {
		pod = i.webhook(u, pod)
	}
	if pod == nil {
		return // the webhook refuses it
	}
	if pod.Labels["gate"] == "open" {
		injectGate(pod)
	}
	if r.IntN(8) == 0 { // of a static one, which an earlier webhook injected into
		pod.Spec.NodeName = "static"
		metav1.SetMetaDataAnnotation(&pod.ObjectMeta, corev1.MirrorPodAnnotationKey, "hash-of-the-file")
	}
	u.CreatePod(pod)
}

// actOthers is what those do in a step who have pods, and update them in place, and the
// controllers of other SidecarSets.
func (i injecting) actOthers(u *simulation.User, r *rand.Rand) {
	pod := u.AnyPod(r)
	switch n := r.IntN(8); {
	case n < 3 || pod == nil:
		name := fmt.Sprint("web-", r.IntN(6))
		if !slices.ContainsFunc(u.Pods(), func(p *corev1.Pod) bool { return p.Name == name }) {
			i.createPod(u, r, name)
		}
	case n < 5:
		updateInPlace(u, pod, []string{"main:1", "main:2", "main:3", "main:bad", "main:nopull"}[r.IntN(5)], int32(r.IntN(2)*10))
	case n < 7:
		finishUpdate(u, pod)
	default:
		updateGate(u, pod, fmt.Sprint("gate:", r.IntN(4)))
	}
}

// updateInPlace begins an update of a pod by its workload, as CloneSets do. It takes the pod out of service, then writes the image and
// its record, or a grace period first. An update that is under way in its grace period is waited for.
func updateInPlace(u *simulation.User, pod *corev1.Pod, image string, grace int32) {
	if pod.DeletionTimestamp != nil || pod.Annotations[inplacev1alpha1.GraceAnnotation] != "" {
		return
	}
	after := pod.DeepCopy()
	state, _ := readUpdate(pod)
	state.Revision, state.UpdateTimestamp = image, metav1.Now()
	serve(after, false)
	if grace > 0 {
		annotatePod(after, inplacev1alpha1.GraceAnnotation, inplacev1alpha1.Grace{Revision: image, GraceSeconds: grace, ContainerImages: map[string]string{"main": image}})
		annotatePod(after, inplacev1alpha1.StateAnnotation, state)
	} else {
		replaceMain(after, &state, image)
	}
	u.UpdatePod("begins the in-place update to "+image, after)
}

// readUpdate reads the record of an update of a pod, and what it waits for: an empty string if it is complete. What it
// records is gone if it is complete.
func readUpdate(pod *corev1.Pod) (state inplacev1alpha1.State, waiting string) {
	readJSON(pod, inplacev1alpha1.StateAnnotation, &state)
	i := slices.IndexFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool { return s.Name == "main" })
	_, replaced := state.LastContainers["main"]
	switch {
	case !replaced:
	case pod.Status.ObservedGeneration != 0 && pod.Status.ObservedGeneration < pod.Generation:
		return state, "the kubelet"
	case i < 0 || pod.Status.ContainerStatuses[i].Image != mainOf(pod).Image || pod.Status.ContainerStatuses[i].ContainerID == "":
		return state, "the container"
	}
	state.LastContainerStatuses, state.LastContainers, state.ContainerBatchesRecord = nil, nil, nil
	return state, ""
}

// replaceMain gives the container of the workload an image, and records which it had.
func replaceMain(pod *corev1.Pod, state *inplacev1alpha1.State, image string) {
	main := mainOf(pod)
	if main.Image != image {
		last, inherited := state.LastContainers["main"]
		last.Images, last.Image = append(last.Images, main.Image), image
		for _, s := range pod.Status.ContainerStatuses {
			if s.Name == "main" && !inherited {
				last.ContainerID = s.ContainerID
				state.LastContainerStatuses = map[string]inplacev1alpha1.ContainerStatus{"main": {ImageID: s.ImageID}}
			}
		}
		state.LastContainers = map[string]inplacev1alpha1.LastContainer{"main": last}
		main.Image = image
	}
	state.ContainerBatchesRecord = append(state.ContainerBatchesRecord, inplacev1alpha1.ContainerBatch{Timestamp: metav1.Now(), Containers: []string{"main"}})
	annotatePod(pod, inplacev1alpha1.StateAnnotation, state)
}

// mainOf is the container of the workload.
func mainOf(pod *corev1.Pod) *corev1.Container {
	return &pod.Spec.Containers[slices.IndexFunc(pod.Spec.Containers, func(c corev1.Container) bool { return c.Name == "main" })]
}

// finishUpdate takes the update of a pod by its workload further.
func finishUpdate(u *simulation.User, pod *corev1.Pod) {
	if pod.DeletionTimestamp != nil {
		return
	}
	state, waiting := readUpdate(pod)
	var grace inplacev1alpha1.Grace
	after := pod.DeepCopy()
	switch waits := readJSON(pod, inplacev1alpha1.GraceAnnotation, &grace); {
	case waits && time.Since(state.UpdateTimestamp.Time) < time.Duration(grace.GraceSeconds)*time.Second:
		return
	case waits:
		delete(after.Annotations, inplacev1alpha1.GraceAnnotation)
		replaceMain(after, &state, grace.ContainerImages["main"])
	case waiting != "" || !serve(after, true):
		return
	}
	u.UpdatePod("goes on with the in-place update", after)
}

// serve takes a pod that has the readiness gate out of service, or puts it back. It tells whether that changes the pod.
func serve(pod *corev1.Pod, is bool) bool {
	if !slices.ContainsFunc(pod.Spec.ReadinessGates, func(g corev1.PodReadinessGate) bool { return g.ConditionType == inplacev1alpha1.InPlaceUpdateReady }) {
		return false
	}
	want := corev1.PodCondition{Type: inplacev1alpha1.InPlaceUpdateReady, Status: corev1.ConditionFalse, Reason: inplacev1alpha1.ReasonStartInPlaceUpdate, LastTransitionTime: metav1.Now()}
	if is {
		want.Status, want.Reason = corev1.ConditionTrue, ""
	}
	kept := slices.DeleteFunc(slices.Clone(pod.Status.Conditions), func(c corev1.PodCondition) bool { return c.Type == want.Type })
	was := len(kept) < len(pod.Status.Conditions)
	for i := range pod.Status.Conditions {
		switch c := &pod.Status.Conditions[i]; {
		case c.Type == want.Type && c.Status == want.Status:
			return false
		case c.Type == want.Type:
			*c = want
		case c.Type == corev1.PodReady && !is && c.Status == corev1.ConditionTrue:
			c.Status, c.Reason, c.LastTransitionTime = corev1.ConditionFalse, "ReadinessGatesNotReady", metav1.Now()
		}
	}
	if !was {
		pod.Status.Conditions = append(pod.Status.Conditions, want)
	}
	return true
}

// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/inplace"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/lifecycle/readiness"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	sidecarv1alpha1 "github.com/podwright/podwright/sidecar/v1alpha1"
)

// Active tells whether a pod counts at all: it has not ended and is not being deleted.
// (PUB-1)
func Active(pod *corev1.Pod) bool { return podstate.Active(pod) }

// Ready tells whether a pod is in service, so that taking it down takes something away.
// (PUB-8)
func Ready(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && pod.Status.Phase == corev1.PodRunning && readiness.Ready(pod) && !heldOut(pod)
}

// heldOut tells whether a label makes a pod count as unavailable. (PUB-8)
func heldOut(pod *corev1.Pod) bool {
	for key := range pod.Labels {
		if strings.HasPrefix(key, v1alpha1.UnavailablePodLabelPrefix) {
			return true
		}
	}
	return false
}

// marked tells whether a pod is marked for deletion, whatever the value of the label, so that
// its workload will delete it. (PUB-13)
func marked(pod *corev1.Pod) bool {
	_, marked := pod.Labels[lifecyclev1alpha1.SpecifiedDeleteLabel]
	return marked
}

// waiting says why the containers of a pod do not run yet what its spec says; empty if they
// do. (PUB-10 to PUB-12)
func waiting(pod *corev1.Pod) string {
	pinned := 0
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		digest := digestOf(c.Image)
		if digest == "" {
			continue
		}
		pinned++
		if status := podstate.ContainerStatus(pod, c.Name); status == nil || status.Image != c.Image && digestOf(status.ImageID) != digest {
			return "container " + c.Name + ": does not run the digest of its image"
		}
	}
	if pinned == len(pod.Spec.Containers) {
		return ""
	}
	if reason := waitingSidecar(pod); reason != "" {
		return reason
	}
	switch complete, reason, err := inplace.Consistent(pod); {
	case err != nil:
		return err.Error()
	case !complete:
		return reason
	}
	return ""
}

// digestOf is the digest in an image reference or an image ID; empty if there is none.
func digestOf(image string) string {
	_, digest, found := strings.Cut(image, "@")
	if !found {
		return ""
	}
	return digest
}

// waitingSidecar says which container that a SidecarSet has updated still runs what it ran
// before. (PUB-11)
func waitingSidecar(pod *corev1.Pod) string {
	states, err := sidecarStates(pod)
	if err != nil {
		return "annotation " + sidecarv1alpha1.SidecarSetInPlaceUpdateStateAnnotation + " cannot be read: " + err.Error()
	}
	for _, state := range states {
		if reason := inplace.Replacing(pod, state); reason != "" {
			return reason
		}
	}
	return ""
}

// sidecarStates are what the SidecarSets that were injected into a pod have recorded of their updates.
func sidecarStates(pod *corev1.Pod) (states []*inplacev1alpha1.State, err error) {
	text := pod.Annotations[sidecarv1alpha1.SidecarSetInPlaceUpdateStateAnnotation]
	if text == "" || pod.Annotations[sidecarv1alpha1.SidecarSetInjectedListAnnotation] == "" {
		return nil, nil
	}
	var records map[string]sidecarv1alpha1.SidecarSetInPlaceUpdateState
	if err := json.Unmarshal([]byte(text), &records); err != nil {
		return nil, err
	}
	for name := range strings.SplitSeq(pod.Annotations[sidecarv1alpha1.SidecarSetInjectedListAnnotation], ",") {
		if record, found := records[strings.TrimSpace(name)]; found {
			states = append(states, &inplacev1alpha1.State{LastContainerStatuses: record.LastContainerStatuses, LastContainers: record.LastContainers})
		}
	}
	return states, nil
}

// mayStart tells whether a container of a pod has a startup probe and was restarted, so that starting has to be asked.
func mayStart(pod *corev1.Pod) bool {
	return slices.ContainsFunc(slices.Concat(pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses), func(s corev1.ContainerStatus) bool {
		if s.Started == nil || !*s.Started || s.LastTerminationState.Terminated == nil {
			return false
		}
		c := podstate.Lasting(pod, s.Name)
		return c != nil && c.StartupProbe != nil
	})
}

// starting says which container an update in place has restarted, of which the kubelet says that it has started before it can
// know. It also says for how long the kubelet's word does not count. It returns an empty name and 0 if there is none.
// (PUB-45)
func starting(pod *corev1.Pod, now time.Time) (waiting string, left time.Duration) {
	waiting, left = inplace.AnyStarting(pod, nil, now)
	states, err := sidecarStates(pod)
	if err != nil {
		return waiting, left // why the pod waits then is what the function waiting says
	}
	for _, state := range states {
		if w, l := inplace.AnyStarting(pod, state, now); l > left {
			waiting, left = w, l
		}
	}
	return waiting, left
}

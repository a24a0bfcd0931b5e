// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// matches tells whether a pod is one of the SidecarSet. (SCS-1, SCS-2)
func (j *sidecarSetJudge) matches(pod *corev1.Pod, s *State) bool {
	return j.selects(pod, s) && j.listed(pod) && j.complete(pod)
}

// listed tells whether a pod says that the SidecarSet was injected.
func (j *sidecarSetJudge) listed(pod *corev1.Pod) bool {
	return slices.Contains(strings.Split(pod.Annotations[v1alpha1.SidecarSetInjectedListAnnotation], ","), j.set.Name)
}

// complete tells whether a pod has all that the SidecarSet injects.
func (j *sidecarSetJudge) complete(pod *corev1.Pod) bool {
	for i := range j.set.Spec.Containers {
		c := &j.set.Spec.Containers[i]
		for _, name := range namesOf(c) {
			if image(&pod.Spec, name) == "" {
				return false
			}
		}
		if hot(c) && !slices.Contains(namesOf(c), working(pod)[c.Name]) {
			return false
		}
	}
	return true
}

// working says which containers of hot ones work in a pod.
func working(pod *corev1.Pod) (names map[string]string) {
	_ = json.Unmarshal([]byte(pod.Annotations[v1alpha1.SidecarSetWorkingHotUpgradeContainerAnnotation]), &names) // otherwise none
	return names
}

// worker is the container of a hot one that works in a pod, and idle the other one.
func worker(pod *corev1.Pod, c *v1alpha1.SidecarContainer) (worker, idle string) {
	if names := namesOf(c); working(pod)[c.Name] == names[1] {
		return names[1], names[0]
	}
	return c.Name + "-1", c.Name + "-2"
}

// record is what the SidecarSet recorded in a pod, zero if that cannot be read.
func (j *sidecarSetJudge) record(pod *corev1.Pod, annotation string) v1alpha1.SidecarSetUpgradeRecord {
	var records map[string]v1alpha1.SidecarSetUpgradeRecord
	_ = json.Unmarshal([]byte(pod.Annotations[annotation]), &records) // otherwise there are none
	return records[j.set.Name]
}

func (j *sidecarSetJudge) isUpdated(pod *corev1.Pod) bool {
	return j.record(pod, v1alpha1.SidecarSetHashAnnotation).SidecarSetHash == j.hash
}

func (j *sidecarSetJudge) upgradable(pod *corev1.Pod) bool {
	return j.record(pod, v1alpha1.SidecarSetHashWithoutImageAnnotation).SidecarSetHash == j.withoutImage && !j.ranOther(pod)
}

// statusOf is the status of a container, empty if there is none.
func statusOf(pod *corev1.Pod, name string) (s corev1.ContainerStatus) {
	for _, list := range [][]corev1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses} {
		for i := range list {
			if list[i].Name == name {
				return list[i]
			}
		}
	}
	return s
}

// took tells whether a container runs the image of its spec: the kubelets of simulations
// say so.
func took(pod *corev1.Pod, name string) bool {
	s := statusOf(pod, name)
	return s.Image == image(&pod.Spec, name) && s.ContainerID != ""
}

// goesOn tells whether a container was started, and has not stopped since.
func goesOn(pod *corev1.Pod, name string) bool { return statusOf(pod, name).State.Running != nil }

// took tells whether a container of the SidecarSet runs the image of its spec. If
// a user has spoilt the record, of a container that is no longer recorded it is not known
// that it has still to change.
func (j *sidecarSetJudge) took(pod *corev1.Pod, name string) bool {
	return took(pod, name) || j.past.sidecars.spoilt[pod.UID] && statusOf(pod, name).ContainerID != "" && !j.recorded(pod, name)
}

// recorded tells whether the record says that the image of a container was replaced.
func (j *sidecarSetJudge) recorded(pod *corev1.Pod, name string) bool {
	_, is := j.states(pod)[j.set.Name].LastContainerStatuses[name]
	return is
}

// hasState tells whether the record says that the SidecarSet has replaced images in a pod.
func (j *sidecarSetJudge) hasState(pod *corev1.Pod) bool {
	_, is := j.states(pod)[j.set.Name]
	return is
}

// states are the records of updates in a pod, none if they cannot be read.
func (j *sidecarSetJudge) states(pod *corev1.Pod) (states map[string]v1alpha1.SidecarSetInPlaceUpdateState) {
	_ = json.Unmarshal([]byte(pod.Annotations[v1alpha1.SidecarSetInPlaceUpdateStateAnnotation]), &states) // otherwise none
	return states
}

// serving tells whether a container serves with an image, and goes on while that stands.
func (j *sidecarSetJudge) serving(pod *corev1.Pod, name string) bool {
	return j.took(pod, name) && statusOf(pod, name).Ready
}

// consistent tells whether the containers of the SidecarSet run the images of their spec. (SCS-3)
func (j *sidecarSetJudge) consistent(pod *corev1.Pod) bool {
	if len(pod.Status.ContainerStatuses) != len(pod.Spec.Containers) {
		return false
	}
	return !slices.ContainsFunc(j.inPod(pod), func(name string) bool { return !j.took(pod, name) })
}

// sidecarsServe tells whether all containers of the SidecarSet serve with the images of
// their spec.
func (j *sidecarSetJudge) sidecarsServe(pod *corev1.Pod) bool {
	return !slices.ContainsFunc(j.inPod(pod), func(name string) bool { return !j.serving(pod, name) })
}

// flipping tells whether a hot container that does not work is still to be emptied. It is not if it has ever been given
// an empty image. (SCS-4)
func (j *sidecarSetJudge) flipping(pod *corev1.Pod) bool {
	for i := range j.set.Spec.Containers {
		c := &j.set.Spec.Containers[i]
		if !hot(c) {
			continue
		}
		if _, idle := worker(pod, c); !j.past.sidecars.empties[image(&pod.Spec, idle)] {
			return true
		}
	}
	return false
}

// inService tells whether a pod serves, whatever its sidecars do.
func inService(pod *corev1.Pod) bool { return ready(pod) && !updating(pod) }

// available tells whether an update of a pod is over, and it serves. (SCS-4, SCS-8, IP-45)
func (j *sidecarSetJudge) available(pod *corev1.Pod) bool {
	return inService(pod) && j.consistent(pod) && !j.flipping(pod) && !j.starting(pod)
}

// starting tells whether a container of the SidecarSet has not come up. If a user has spoilt the record, one that is no longer
// recorded is as its kubelet says. (IP-45)
func (j *sidecarSetJudge) starting(pod *corev1.Pod) bool {
	return slices.ContainsFunc(starting(pod, j.Known.Now), func(name string) bool {
		return len(j.imagesOf(name)) > 0 && (!j.past.sidecars.spoilt[pod.UID] || j.recorded(pod, name))
	})
}

// longestUpdate is how long sidecars wait for the workload's update of a pod. (SCS-20)
const longestUpdate = 5 * time.Minute

// workloadUpdates tells whether the workload of a pod updates it in place now, and has not
// been at it for too long. It begins with the condition, before there is a state. (SCS-20)
func (j *sidecarSetJudge) workloadUpdates(pod *corev1.Pod, now time.Time) bool {
	var state inplacev1alpha1.State
	if text := pod.Annotations[inplacev1alpha1.StateAnnotation]; text != "" && json.Unmarshal([]byte(text), &state) != nil {
		return false
	}
	since, containers := state.UpdateTimestamp.Time, inGrace(pod)
	for name := range state.LastContainerStatuses {
		containers = containers || !took(pod, name)
	}
	if c := condition(pod, inplacev1alpha1.InPlaceUpdateReady); !containers && updating(pod) && c.LastTransitionTime.After(since) {
		since = c.LastTransitionTime.Time
	}
	return (containers || updating(pod)) && now.Sub(since) < longestUpdate
}

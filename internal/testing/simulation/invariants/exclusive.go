// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// checkExclusive: no update of a pod begins while a SidecarSet updates it, unless one of the
// workload itself was under way when the author looked. (IP-33)
func checkExclusive(v *violations, w *Write) {
	before, after := w.pods()
	if w.Observed == nil || !updated(before, after) {
		return
	}
	observed := w.Observed.Pods[before.Name]
	if observed == nil || observed.UID != before.UID || unreadable(observed) || inGrace(observed) || updating(observed) || len(replacing(observed)) > 0 {
		return
	}
	if name := sidecarReplacing(before, w.Known.Now); name != "" {
		v.add(Exclusive, "updates pod %s while a SidecarSet has container %s take another image", before.Name, name)
	}
}

// checkBackInService: a pod goes back into service with what its update gave it, and that has come up. (IP-24, IP-26, IP-45)
func checkBackInService(v *violations, w *Write) {
	before, after := w.pods()
	if w.Known == nil || !updating(before) || updating(after) || inGrace(before) {
		return
	}
	if known := w.knownPod(); known != nil {
		for _, name := range replacing(known) {
			v.add(InPlace, "puts pod %s back into service, and container %s has still to take its image", before.Name, name)
		}
		for _, name := range starting(known, w.Known.Now) {
			v.add(InPlace, "puts pod %s back into service, and container %s has still to come up", before.Name, name)
		}
	}
}

// replacing names the containers that have still to take what the workload gave them.
func replacing(pod *corev1.Pod) (names []string) {
	var state inplacev1alpha1.State
	if json.Unmarshal([]byte(pod.Annotations[inplacev1alpha1.StateAnnotation]), &state) != nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(state.LastContainerStatuses)) {
		if !took(pod, name) {
			names = append(names, name)
		}
	}
	return names
}

// longestSidecar is how long an update waits for that of a sidecar. (IP-33)
const longestSidecar = 5 * time.Minute

// sidecarReplacing names a container that has still to take what a SidecarSet gave it not
// long ago, by its records; empty if there is none.
func sidecarReplacing(pod *corev1.Pod, now time.Time) string {
	var states map[string]v1alpha1.SidecarSetInPlaceUpdateState
	var records map[string]v1alpha1.SidecarSetUpgradeRecord
	if json.Unmarshal([]byte(pod.Annotations[v1alpha1.SidecarSetInPlaceUpdateStateAnnotation]), &states) != nil ||
		json.Unmarshal([]byte(pod.Annotations[v1alpha1.SidecarSetHashAnnotation]), &records) != nil {
		return ""
	}
	for _, set := range slices.Sorted(maps.Keys(states)) {
		if now.Sub(records[set].UpdateTimestamp.Time) >= longestSidecar {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(states[set].LastContainerStatuses)) {
			if image(&pod.Spec, name) != "" && !took(pod, name) {
				return name
			}
		}
	}
	return ""
}

// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"math/rand/v2"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// startupEdits give a template two containers with startup probes, and images to one or both.
var startupEdits = func() (edits []Edit) {
	const containers = `{"spec":{"template":{"spec":{"containers":[` +
		`{"name":"main","image":"nginx:%v","startupProbe":{"exec":{"command":["up"]},"periodSeconds":10}},` +
		`{"name":"log","image":"log:VERSION","startupProbe":{"exec":{"command":["up"]},"periodSeconds":30}}]}}}}`
	for _, version := range []string{"1", "2", "3"} {
		edits = append(edits, Pick(strings.Replace(containers, "VERSION", version, 1), 1, 2, 3))
	}
	return edits
}()

// Starting is the workload with containers that have startup probes: in the beginning, and after every other edit. With inPlace, a
// merge patch, its pods are updated in place. (IP-45)
func Starting(w *Subject, inPlace string) *Subject {
	starting := *w
	starting.StartupProbes = true
	starting.Create = func(r *rand.Rand) Object {
		object := w.Create(r)
		Merge(object, AnyEdit(r, startupEdits))
		Merge(object, inPlace)
		return object
	}
	starting.Act = func(u *User, r *rand.Rand) {
		switch n := r.IntN(8); {
		case n == 0:
			u.Edit(inPlace)
		case n < 4:
			u.Edit(AnyEdit(r, startupEdits))
		default:
			w.Act(u, r)
		}
	}
	starting.Push = func(u *User) {
		w.Push(u) // it may take the probes away, of which running pods get nothing
		u.Edit(inPlace)
	}
	return &starting
}

// Believing returns copies of pods that tell of no restart, so that their readers believe at once that containers have started.
func Believing(pods []*corev1.Pod) []*corev1.Pod {
	believing := make([]*corev1.Pod, len(pods))
	for i, pod := range pods {
		believing[i] = pod.DeepCopy()
		status := &believing[i].Status
		for _, all := range [][]corev1.ContainerStatus{status.InitContainerStatuses, status.ContainerStatuses} {
			for j := range all {
				all[j].LastTerminationState.Terminated = nil
			}
		}
	}
	return believing
}

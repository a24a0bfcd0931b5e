// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"context"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/internal/testing/fakecluster"
)

// ailment is what ails a pod for a while: it is not ready, or one of its containers.
type ailment struct {
	until     time.Time
	container string // empty: all
}

// ailment says what ails a pod until a moment.
func (h *history) ailment(pod *corev1.Pod, until time.Time, r *rand.Rand) ailment {
	if !h.workload.ByContainer || r.IntN(3) == 0 {
		return ailment{until: until}
	}
	return ailment{until, pod.Spec.Containers[r.IntN(len(pod.Spec.Containers))].Name}
}

// ails tells whether something ails a pod.
func (h *history) ails(pod *corev1.Pod) bool { return time.Now().Before(h.sick[pod.UID].until) }

// visitContainer has kubelets come to one container of a pod alone, or to all again.
func (h *history) visitContainer(pod *corev1.Pod, r *rand.Rand) {
	h.visited = ""
	if h.workload.ByContainer && pod != nil && r.IntN(2) == 0 {
		h.visited = pod.Spec.Containers[r.IntN(len(pod.Spec.Containers))].Name
	}
}

// inContainer names the container that kubelets act for.
func (h *history) inContainer(pod *corev1.Pod) (text string) {
	if h.visited != "" {
		text = " in container " + h.visited
	}
	if ailing := h.sick[pod.UID].container; h.ails(pod) && ailing != "" {
		text += ", of which container " + ailing + " ails"
	}
	return text
}

// setKubelet says what a kubelet gets done in a pod.
func (h *history) setKubelet(pod *corev1.Pod, works bool) {
	k, ailing, visited := h.kubelet, "", h.visited
	if h.ails(pod) {
		ailing = h.sick[pod.UID].container
	}
	k.Clock = h.clockOf(pod)
	k.Broken = func(image string) bool { return !works && ailing == "" || strings.Contains(image, "bad") }
	if h.workload.Resizes {
		k.Resize = func(pod *corev1.Pod) string { return resizes(pod, works) }
	}
	if h.workload.ByContainer {
		k.Unready = func(container string) bool { return container == ailing }
		k.Unpullable = func(image string) bool { return strings.Contains(image, "nopull") }
		k.Leaves = func(container string) bool { return visited != "" && container != visited }
	}
}

// askProbes has kubelets ask the startup probes whose turn has come, whatever else they are late with.
func (h *history) askProbes() error {
	if !h.workload.StartupProbes {
		return nil
	}
	for _, pod := range h.podList() {
		if h.isDead(pod) {
			continue
		}
		h.setKubelet(pod, !h.ails(pod))
		changes, err := h.kubelet.Ask(context.Background(), pod)
		if err != nil {
			return err
		}
		if changes {
			h.say("kubelet: asks the startup probes of pod %s", pod.Name)
		}
	}
	return h.settle()
}

// resizes says how far a node comes with the resize of a pod: one of four is on a full node.
func resizes(pod *corev1.Pod, works bool) string {
	sum := fnv.New32a()
	sum.Write([]byte(pod.UID))
	switch {
	case sum.Sum32()%4 == 0:
		return corev1.PodReasonDeferred
	case !works:
		return fakecluster.ResizeInProgress
	}
	return ""
}

// actOthers has another manager of the pods act beside the workload.
func (h *history) actOthers(r *rand.Rand) error {
	h.workload.Others(&User{history: h, kind: h.kinds[0], name: "other"}, r)
	return h.settle()
}

// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/scheduler"
)

// Kubelet brings one pod as far as a kubelet can. It starts containers,
// restarts those whose image has changed, reports readiness, and ends a pod
// that is being deleted. A container whose image says
//
//   - "bad" runs and never becomes ready;
//   - "missing" cannot be pulled: it is not ready, and reports the image it had.
func (w *Cluster) Kubelet(name string) {
	pod := w.Pod(name)
	switch {
	case pod == nil || ended(pod) && pod.DeletionTimestamp == nil:
	case w.Graceful && pod.DeletionTimestamp != nil:
		if len(pod.Finalizers) == 0 {
			w.Gone(name)
		}
	case !ended(pod):
		w.Edit(name, w.run)
	}
}

// Kubelets lets all kubelets act once. They leave alone what is frozen, and
// start no container whose image says "slow": those wait for Kubelet.
func (w *Cluster) Kubelets() {
	for _, pod := range slices.Clone(w.Pods) {
		if !w.frozen[pod.UID] && !slow(pod) {
			w.Kubelet(pod.Name)
		}
	}
}

// Freeze makes Kubelets leave a pod alone, or see to it again.
func (w *Cluster) Freeze(name string, frozen bool) {
	if pod := w.Pod(name); pod != nil {
		w.frozen[pod.UID] = frozen
	}
}

// Break makes the containers of a running pod fail, or recover. They stay so
// until the pod is another one.
func (w *Cluster) Break(name string, broken bool) {
	pod := w.Pod(name)
	if pod == nil {
		return
	}
	w.broken[pod.UID] = broken
	if pod.Status.Phase == corev1.PodRunning {
		w.Edit(name, w.run)
	}
}

// slow tells whether a pod that is to stay has a container to start that is slow.
func slow(pod *corev1.Pod) bool {
	if pod.DeletionTimestamp != nil {
		return false
	}
	runs := map[string]string{}
	for _, s := range pod.Status.ContainerStatuses {
		runs[s.Name] = s.Image
	}
	return slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool {
		return strings.Contains(c.Image, "slow") && runs[c.Name] != c.Image
	})
}

// run brings the status of a pod to what its spec says.
func (w *Cluster) run(pod *corev1.Pod) {
	if pod.Spec.NodeName == "" {
		pod.Spec.NodeName = cmp.Or(scheduler.NodeOf(pod), "node-"+strings.TrimPrefix(w.Alias(pod.Name), "p"))
	}
	w.openGates(pod)
	w.kubelet(pod).Run(pod)
}

// openGates opens the readiness gates of others.
func (w *Cluster) openGates(pod *corev1.Pod) {
	for _, gate := range pod.Spec.ReadinessGates {
		if strings.HasPrefix(string(gate.ConditionType), "example.com/") {
			w.SetCondition(pod, gate.ConditionType, corev1.ConditionTrue)
		}
	}
}

func (w *Cluster) kubelet(pod *corev1.Pod) *fakecluster.Kubelet {
	says := func(word string) func(string) bool {
		return func(image string) bool { return strings.Contains(image, word) }
	}
	return &fakecluster.Kubelet{
		Clock: clocktesting.NewFakePassiveClock(w.Now), Broken: says("bad"), Unpullable: says("missing"),
		Unready: func(string) bool { return w.broken[pod.UID] },
	}
}

// Recompute brings the conditions of a pod that the caller may change to what
// its containers and readiness gates say.
func (w *Cluster) Recompute(pod *corev1.Pod) {
	w.openGates(pod)
	w.kubelet(pod).Recompute(pod)
}

// SetCondition sets a condition of a pod that the caller may change.
func (w *Cluster) SetCondition(pod *corev1.Pod, t corev1.PodConditionType, status corev1.ConditionStatus) {
	w.kubelet(pod).SetCondition(pod, t, status)
}

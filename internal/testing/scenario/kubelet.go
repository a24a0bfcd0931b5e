// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/scheduler"
	"github.com/podwright/podwright/lifecycle/readiness"
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
	pod.Status.Phase = corev1.PodRunning
	old := map[string]corev1.ContainerStatus{}
	for _, s := range pod.Status.ContainerStatuses {
		old[s.Name] = s
	}
	pod.Status.ContainerStatuses = nil
	for _, c := range pod.Spec.Containers {
		s, ran := old[c.Name]
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, w.runContainer(pod, c, s, ran))
	}
	w.Recompute(pod)
}

func (w *Cluster) runContainer(pod *corev1.Pod, c corev1.Container, s corev1.ContainerStatus, ran bool) corev1.ContainerStatus {
	s.Name = c.Name
	if strings.Contains(c.Image, "missing") {
		s.Ready = false
		if !ran {
			s.Image = c.Image
		}
		return s
	}
	if ran && s.Image != c.Image {
		s.RestartCount++
	}
	was, restarts := s, !ran || s.Image != c.Image
	s.Image, s.ImageID, s.ContainerID = c.Image, "sha256:"+c.Image, "fake://"+c.Name
	s.Ready = !strings.Contains(c.Image, "bad") && !w.broken[pod.UID]
	if c.StartupProbe != nil {
		w.start(&c, &s, &was, restarts)
	}
	return s
}

// start reports what a startup probe says, of a container that has an ID of its own then, and a time since which it runs.
func (w *Cluster) start(c *corev1.Container, s, was *corev1.ContainerStatus, restarts bool) {
	s.ContainerID = fmt.Sprint(s.ContainerID, "-", s.RestartCount)
	if !restarts {
		was = nil
	} else {
		s.State.Running = &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(w.Now)}
	}
	fakecluster.Startup(c, s, was, w.Now)
}

// Recompute brings the conditions of a pod that the caller may change to what
// its containers and readiness gates say.
func (w *Cluster) Recompute(pod *corev1.Pod) {
	containers, ready := corev1.ConditionTrue, corev1.ConditionTrue
	for _, s := range pod.Status.ContainerStatuses {
		if !s.Ready {
			containers = corev1.ConditionFalse
		}
	}
	for _, gate := range pod.Spec.ReadinessGates {
		if strings.HasPrefix(string(gate.ConditionType), "example.com/") { // others open theirs at once
			w.SetCondition(pod, gate.ConditionType, corev1.ConditionTrue)
		}
		if c := readiness.Condition(pod, gate.ConditionType); c == nil || c.Status != corev1.ConditionTrue {
			ready = corev1.ConditionFalse
		}
	}
	if containers == corev1.ConditionFalse {
		ready = corev1.ConditionFalse
	}
	w.SetCondition(pod, corev1.ContainersReady, containers)
	w.SetCondition(pod, corev1.PodReady, ready)
}

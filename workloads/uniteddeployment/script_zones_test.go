// SPDX-License-Identifier: Apache-2.0

package uniteddeployment_test

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// adapt does what a line of a script says about subsets whose nodes are full.
func (w *world) adapt(command string, words []string) error {
	switch command {
	case "adaptive":
		w.stop()
		w.adaptive = true
		w.start()
	case "wait":
		d, err := time.ParseDuration(words[0])
		if err != nil {
			return err
		}
		for range int(d.Seconds()) {
			w.work(1)
			reportUnschedulable(w.Cluster)
		}
	case "room", "evict":
		if w.room == nil {
			w.room = map[string]int{}
			w.Kubelet.Schedule = w.schedule
		}
		w.room[words[0]] = number(words[1])
		if command == "evict" {
			w.evict(words[0])
		}
	case "zones":
		return w.zones()
	}
	return nil
}

// schedule finds a node for a pod if its subset has room.
func (w *world) schedule(pod *corev1.Pod) string {
	subset := pod.Labels[v1alpha1.SubsetNameLabel]
	if room, limited := w.room[subset]; limited && len(w.placed(subset)) >= room {
		return ""
	}
	return "node-" + pod.Name
}

// placed returns the pods of a subset that have nodes.
func (w *world) placed(subset string) (pods []corev1.Pod) {
	for _, pod := range w.Pods() {
		if pod.Labels[v1alpha1.SubsetNameLabel] == subset && pod.Spec.NodeName != "" {
			pods = append(pods, pod)
		}
	}
	return pods
}

// evict deletes the pods of a subset that have no room any more.
func (w *world) evict(subset string) {
	for i, pod := range w.placed(subset) {
		if i >= w.room[subset] {
			w.RemovePod(pod.Name)
		}
	}
}

// reportUnschedulable has the scheduler report which pods find no nodes.
func reportUnschedulable(c *fixture.Cluster) {
	for _, pod := range c.Pods() {
		if pod.Spec.NodeName == "" && !lifecycle.Unschedulable(&pod) {
			c.PatchPod(pod.Name, `{"status":{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable"}]}}`, "status")
		}
	}
}

// zones shows the subsets.
func (w *world) zones() error {
	set, err := newClient(w.T, w.Server, "test").UnitedDeployments("default").Get(w.T.Context(), "web", metav1.GetOptions{})
	if err != nil {
		return err
	}
	closed := map[string]string{}
	for _, s := range set.Status.SubsetStatuses {
		if c := s.Conditions[0]; c.Status == corev1.ConditionFalse {
			closed[s.Name] = ", " + c.Reason
		}
	}
	for _, c := range workloadsOf(w.Cluster, w.kind) {
		ready, reserved := 0, 0
		for _, pod := range w.Pods() {
			if pod.Labels[v1alpha1.SubsetNameLabel] != c.subset() {
				continue
			}
			if lifecycle.Ready(&pod) {
				ready++
			}
			if pod.Labels[v1alpha1.ReservedPodLabel] == "true" {
				reserved++
			}
		}
		text := fmt.Sprintf("%s: %d of %d", c.subset(), ready, c.Spec.Replicas)
		if reserved > 0 {
			text += fmt.Sprintf(", %d reserved", reserved)
		}
		w.note("%s%s", text, closed[c.subset()])
	}
	return nil
}

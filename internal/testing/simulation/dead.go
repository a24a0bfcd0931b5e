// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// How often kubelets reject pods and die: one in so many of those that start, and of the moves of nodes.
const (
	rejected = 25
	died     = 8
)

// Dying returns the workload in a cluster with nodes, whose kubelets die and reject pods. Users repair a node of each zone in the end.
func Dying(w *Subject) *Subject {
	dying := *w
	dying.Nodes, dying.KubeletsDie = max(w.Nodes, 4), true
	dying.Push = func(u *User) {
		u.readyNode("n1", "a", "a")
		u.readyNode("n2", "b", "b")
		w.Push(u)
	}
	return &dying
}

// beside returns random numbers of a step that no other move draws from: a history is the same until what they decide happens.
func (h *history) beside() *rand.Rand { return rand.New(rand.NewPCG(h.seed, 1<<32+uint64(h.step))) }

// reject has a kubelet reject a pod that is to start, and tells whether it has.
func (h *history) reject(pod *corev1.Pod) (bool, error) {
	if h.ending != nil || !h.workload.KubeletsDie || pod.Spec.NodeName != "" || pod.DeletionTimestamp != nil || h.starting(pod) || h.lacksClaim(pod) || h.waitsForNode(pod) || h.beside().IntN(rejected) > 0 {
		return false, nil
	}
	err := h.kube.CoreV1().Pods(pod.Namespace).Bind(context.Background(), &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: h.schedule(pod)}}, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	(&User{history: h, kind: h.kinds[0], name: "kubelet"}).PatchPod(pod.Name,
		`{"status":{"phase":"Failed","reason":"OutOfcpu","message":"Pod was rejected: Node didn't have enough resource: cpu"}}`, "status")
	return true, h.settle()
}

// isDead tells whether the kubelet of a pod is dead, or that of the node which the scheduler would find for it.
func (h *history) isDead(pod *corev1.Pod) bool {
	node := pod.Spec.NodeName
	if node == "" && len(h.dead) > 0 {
		node = h.schedule(pod)
	}
	return h.dead[node]
}

// Lives tells whether there is a node, and its kubelet is not dead.
func (u *User) Lives(node string) bool {
	return u.history.records[nodes].objects[node] != nil && !u.history.dead[node]
}

// kill has the kubelet of a node die: nothing is heard of the node, pods are unready, and those that are deleted stay.
func (h *history) kill(node string) error {
	h.say("the kubelet of node %s dies", node)
	h.dead[node] = true
	now := metav1.Now()
	if err := h.patchNode(node, map[string]any{"spec": map[string]any{"unschedulable": nil, "taints": []corev1.Taint{
		{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoSchedule}, {Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoExecute, TimeAdded: &now}}}}); err != nil {
		return err
	}
	if err := h.report(node, corev1.ConditionUnknown); err != nil {
		return err
	}
	controller := &User{history: h, kind: h.kinds[0], name: "node controller"}
	for _, pod := range h.podList() {
		if pod.Spec.NodeName == node && Ready(pod) {
			controller.PatchPod(pod.Name, fmt.Sprintf(`{"status":{"conditions":[{"type":"Ready","status":"False","reason":"NodeLost","lastTransitionTime":%q}]}}`,
				now.UTC().Format(time.RFC3339)), "status")
		}
	}
	return h.settle()
}

func (h *history) revive(node string) error {
	h.say("the kubelet of node %s is back", node)
	delete(h.dead, node)
	if h.records[nodes].objects[node] == nil {
		return nil
	}
	if err := h.patchNode(node, map[string]any{"spec": map[string]any{"taints": nil}}); err != nil {
		return err
	}
	return h.report(node, corev1.ConditionTrue)
}

// report has a node be ready, or unknown since nothing is heard of it.
func (h *history) report(node string, ready corev1.ConditionStatus) error {
	return h.patchNode(node, map[string]any{"status": map[string]any{"conditions": []corev1.NodeCondition{
		{Type: corev1.NodeReady, Status: ready, LastTransitionTime: metav1.Now()}}}}, "status")
}

// tolerated is for how long pods that say nothing else stay on a node of which nothing is heard: admission gives them such a toleration.
const tolerated = 5 * time.Minute

// evictsLater tells whether pods are still tolerated on a node whose kubelet is dead.
func evictsLater(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool {
		return t.Key == corev1.TaintNodeUnreachable && t.TimeAdded != nil && time.Since(t.TimeAdded.Time) < tolerated
	})
}

// deadForGood has some histories in which kubelets die settle while one stays dead. What needs it waits for ever, and says so;
// everything else goes on. In the end users push, and that is judged again.
func (h *history) deadForGood() error {
	r := rand.New(rand.NewPCG(h.seed, 1<<33))
	if !h.workload.KubeletsDie || r.IntN(2) == 0 {
		return nil
	}
	h.policies = nil
	if pod := h.anyPod(r); len(h.dead) == 0 && pod != nil && h.nodeOf(pod) != nil {
		if err := h.kill(h.nodeOf(pod).Name); err != nil {
			return err
		}
	}
	if len(h.dead) == 0 {
		return nil
	}
	h.say("nothing more happens, and the kubelets of %v stay dead", slices.Sorted(maps.Keys(h.dead)))
	return h.inTurn(h.settleUnpushed, h.push, h.settleUnpushed)
}

// endDead has dead nodes leave, or come back.
func (h *history) endDead() error {
	r := rand.New(rand.NewPCG(h.seed, 1<<34))
	for _, node := range slices.Sorted(maps.Keys(h.dead)) {
		if r.IntN(2) == 0 {
			if err := h.revive(node); err != nil {
				return err
			}
			continue
		}
		h.say("node %s, whose kubelet is dead, leaves", node)
		delete(h.dead, node)
		if h.records[nodes].objects[node] == nil {
			continue
		}
		if err := h.kube.CoreV1().Nodes().Delete(context.Background(), node, metav1.DeleteOptions{}); err != nil {
			return err
		}
	}
	if err := h.settle(); err != nil {
		return fmt.Errorf("end dead nodes: %w", err)
	}
	return nil
}

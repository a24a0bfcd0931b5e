// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/fakecluster/scheduler"
)

const nodes = "nodes"

// The labels of nodes, whose values are a and b.
const (
	Zone = "zone"
	Ring = "ring"
)

func (h *history) nodeList() []*corev1.Node { return sorted[*corev1.Node](h.records[nodes].objects) }

// hasNodes tells whether the cluster has nodes. In one that has none every pod
// has a node of its own, which lives as long as the pod.
func (h *history) hasNodes() bool { return h.workload.Nodes > 0 }

// nodeOf is the node that a pod is on, or is for; nil if there is none.
func (h *history) nodeOf(pod *corev1.Pod) *corev1.Node {
	node, _ := h.records[nodes].objects[scheduler.NodeOf(pod)].(*corev1.Node)
	return node
}

// waitsForNode tells whether scheduler or kubelet can do nothing for a pod. The pod has no node and none takes it, or
// its node is gone.
func (h *history) waitsForNode(pod *corev1.Pod) bool {
	if !h.hasNodes() {
		return false
	}
	if pod.Spec.NodeName == "" {
		return h.schedule(pod) == ""
	}
	return h.nodeOf(pod) == nil
}

// starting tells whether a pod is still too young to have a node.
func (h *history) starting(pod *corev1.Pod) bool {
	return pod.Spec.NodeName == "" && pod.DeletionTimestamp == nil && time.Since(pod.CreationTimestamp.Time) < h.workload.StartIn
}

// reportUnscheduled has the scheduler report that it finds no node for a pod.
func (h *history) reportUnscheduled(pod *corev1.Pod) {
	if !h.workload.Reports || pod.Spec.NodeName != "" || pod.DeletionTimestamp != nil || pod.Status.Phase != corev1.PodPending ||
		slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodScheduled }) {
		return
	}
	(&User{history: h, kind: h.kinds[0], name: "scheduler"}).PatchPod(pod.Name,
		`{"status":{"conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable"}]}}`, "status")
	h.settle()
}

// schedule finds a node for a pod, empty if none takes it.
func (h *history) schedule(pod *corev1.Pod) string {
	for _, node := range h.nodeList() {
		if scheduler.Takes(node, &pod.Spec) {
			return node.Name
		}
	}
	return ""
}

// newNode is a node whose kubelet is ready, and says how much it has to allocate: no scheduler finds place on one that does not.
func newNode(name, zone, ring string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{Zone: zone, Ring: ring}},
		Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
			Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("64"), corev1.ResourceMemory: resource.MustParse("64Gi")}}}
}

func (h *history) join(name, zone, ring string) error {
	_, err := h.kube.CoreV1().Nodes().Create(context.Background(), newNode(name, zone, ring), metav1.CreateOptions{})
	return err
}

func (h *history) joinAll() {
	r := h.random(0)
	for i := range h.workload.Nodes {
		h.must(h.join(fmt.Sprint("n", i+1), "a", []string{"a", "b"}[r.IntN(2)]))
	}
}

func (h *history) changeNodes(r *rand.Rand) {
	name := fmt.Sprint("n", 1+r.IntN(h.workload.Nodes+2))
	node, _ := h.records[nodes].objects[name].(*corev1.Node)
	ring := []string{"a", "b"}[r.IntN(2)]
	if node == nil {
		delete(h.dead, name)
	}
	switch n := h.beside().IntN(died); {
	case h.dead[name] && n < died/2:
		h.revive(name)
		h.settle()
		return
	case h.dead[name]:
		return
	case h.workload.KubeletsDie && n == 0 && node != nil:
		h.kill(name)
		return
	}
	all := h.kube.CoreV1().Nodes()
	switch n := r.IntN(9); {
	case n == 0:
		h.restartKubelets(r, h.nodeList())
	case node == nil:
		h.say("node %s joins", name)
		h.must(h.join(name, "a", ring))
	case n == 1:
		h.say("node %s leaves", name)
		h.must(all.Delete(context.Background(), name, metav1.DeleteOptions{}))
	case n == 2:
		h.say("node %s leaves, and another one of its name joins", name)
		h.must(all.Delete(context.Background(), name, metav1.DeleteOptions{}))
		h.must(h.join(name, "a", ring))
	case n < 5:
		taints := [][]corev1.Taint{
			nil, nil, nil, {{Key: "drain", Effect: corev1.TaintEffectNoSchedule}}, {{Key: "drain", Effect: corev1.TaintEffectNoExecute}},
			{{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoExecute}}, {{Key: "drain", Effect: corev1.TaintEffectPreferNoSchedule}},
		}[r.IntN(7)]
		h.must(h.patchNode(name, map[string]any{"spec": map[string]any{"taints": taints}}))
	case n == 5:
		cordoned := r.IntN(2) == 0
		taints := []corev1.Taint{}
		if cordoned {
			taints = append(taints, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
		}
		h.must(h.patchNode(name, map[string]any{"spec": map[string]any{"unschedulable": cordoned, "taints": taints}}))
	case n == 6:
		h.must(h.patchNode(name, map[string]any{"metadata": map[string]any{"labels": map[string]any{Zone: []string{"a", "a", "b"}[r.IntN(3)]}}}))
	case n == 7:
		h.must(h.patchNode(name, map[string]any{"metadata": map[string]any{"labels": map[string]any{Ring: ring}}}))
	default:
		h.restartKubelets(r, []*corev1.Node{node})
	}
	h.settle()
}

func (h *history) patchNode(name string, patch any, subresources ...string) error {
	data, err := json.Marshal(patch)
	if err != nil {
		return err
	}
	h.say("node %s: %s", name, data)
	_, err = h.kube.CoreV1().Nodes().Patch(context.Background(), name, types.MergePatchType, data, metav1.PatchOptions{}, subresources...)
	return err
}

// restartKubelets lets the pods of nodes be unready until their kubelets are back.
func (h *history) restartKubelets(r *rand.Rand, of []*corev1.Node) {
	back := time.Now().Add([]time.Duration{time.Second, 5 * time.Second, time.Minute}[r.IntN(3)])
	for _, node := range of {
		h.say("the kubelet of node %s restarts", node.Name)
	}
	for _, pod := range h.podList() {
		if pod.Spec.NodeName == "" || !slices.ContainsFunc(of, func(n *corev1.Node) bool { return n.Name == pod.Spec.NodeName }) {
			continue
		}
		h.sick[pod.UID] = ailment{until: back}
		h.sync(pod, false)
	}
}

// collectPods removes the pods of nodes that are gone, and evicts those that do not
// tolerate a taint NoExecute, as the controller manager does.
func (h *history) collectPods() {
	if !h.hasNodes() {
		return
	}
	for _, pod := range h.podList() {
		node, options := h.nodeOf(pod), metav1.DeleteOptions{}
		switch {
		case pod.Spec.NodeName == "":
			continue
		case node == nil:
			options.GracePeriodSeconds = new(int64)
			h.say("garbage collector: removes pod %s, its node %s is gone", pod.Name, pod.Spec.NodeName)
		case pod.DeletionTimestamp == nil && !evictsLater(node) && scheduler.Evicts(node, &pod.Spec):
			h.say("taint manager: evicts pod %s from node %s", pod.Name, node.Name)
		default:
			continue
		}
		h.must(h.kube.CoreV1().Pods(pod.Namespace).Delete(context.Background(), pod.Name, options))
	}
	h.settle()
}

// endPod has a pod end that runs, if pods of the kind do, and tells whether it has. One
// with a bad image fails, or restarts again and again if its policy is that.
func (h *history) endPod(pod *corev1.Pod, works bool) bool {
	if !h.workload.PodsEnd || pod.DeletionTimestamp != nil || pod.Status.Phase != corev1.PodRunning {
		return false
	}
	bad := slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool { return strings.Contains(c.Image, "bad") })
	if !works && !bad {
		return false
	}
	after := pod.DeepCopy()
	switch {
	case !bad:
		after.Status.Phase = corev1.PodSucceeded
	case pod.Spec.RestartPolicy != corev1.RestartPolicyOnFailure:
		after.Status.Phase = corev1.PodFailed
	case len(after.Status.ContainerStatuses) == 0 || after.Status.ContainerStatuses[0].RestartCount >= mostRestarts:
		return false
	default:
		after.Status.ContainerStatuses[0].RestartCount++
	}
	h.say("kubelet: pod %s is %s", pod.Name, after.Status.Phase)
	_, err := h.kube.CoreV1().Pods(pod.Namespace).UpdateStatus(context.Background(), after, metav1.UpdateOptions{})
	h.must(err)
	return true
}

// mostRestarts is how often a container is restarted that fails: more often than jobs allow.
const mostRestarts = 3

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
func (h *history) reject(pod *corev1.Pod) bool {
	if h.ending != nil || !h.workload.KubeletsDie || pod.Spec.NodeName != "" || pod.DeletionTimestamp != nil || h.starting(pod) || h.lacksClaim(pod) || h.waitsForNode(pod) || h.beside().IntN(rejected) > 0 {
		return false
	}
	h.must(h.kube.CoreV1().Pods(pod.Namespace).Bind(context.Background(), &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: h.schedule(pod)}}, metav1.CreateOptions{}))
	(&User{history: h, kind: h.kinds[0], name: "kubelet"}).PatchPod(pod.Name,
		`{"status":{"phase":"Failed","reason":"OutOfcpu","message":"Pod was rejected: Node didn't have enough resource: cpu"}}`, "status")
	h.settle()
	return true
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
func (h *history) kill(node string) {
	h.say("the kubelet of node %s dies", node)
	h.dead[node] = true
	now := metav1.Now()
	h.must(h.patchNode(node, map[string]any{"spec": map[string]any{"unschedulable": nil, "taints": []corev1.Taint{
		{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoSchedule},
		{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoExecute, TimeAdded: &now}}}}))
	h.report(node, corev1.ConditionUnknown)
	controller := &User{history: h, kind: h.kinds[0], name: "node controller"}
	for _, pod := range h.podList() {
		if pod.Spec.NodeName == node && Ready(pod) {
			controller.PatchPod(pod.Name, fmt.Sprintf(`{"status":{"conditions":[{"type":"Ready","status":"False","reason":"NodeLost","lastTransitionTime":%q}]}}`,
				now.UTC().Format(time.RFC3339)), "status")
		}
	}
	h.settle()
}

func (h *history) revive(node string) {
	h.say("the kubelet of node %s is back", node)
	delete(h.dead, node)
	if h.records[nodes].objects[node] == nil {
		return
	}
	h.must(h.patchNode(node, map[string]any{"spec": map[string]any{"taints": nil}}))
	h.report(node, corev1.ConditionTrue)
}

// report has a node be ready, or unknown since nothing is heard of it.
func (h *history) report(node string, ready corev1.ConditionStatus) {
	h.must(h.patchNode(node, map[string]any{"status": map[string]any{"conditions": []corev1.NodeCondition{
		{Type: corev1.NodeReady, Status: ready, LastTransitionTime: metav1.Now()}}}}, "status"))
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
func (h *history) deadForGood() {
	r := rand.New(rand.NewPCG(h.seed, 1<<33))
	if !h.workload.KubeletsDie || r.IntN(2) == 0 {
		return
	}
	h.policies = nil
	if pod := h.anyPod(r); len(h.dead) == 0 && pod != nil && h.nodeOf(pod) != nil {
		h.kill(h.nodeOf(pod).Name)
	}
	if len(h.dead) == 0 {
		return
	}
	h.say("nothing more happens, and the kubelets of %v stay dead", slices.Sorted(maps.Keys(h.dead)))
	h.inTurn(h.settleUnpushed, h.push, h.settleUnpushed)
}

// endDead has dead nodes leave, or come back.
func (h *history) endDead() {
	r := rand.New(rand.NewPCG(h.seed, 1<<34))
	for _, node := range slices.Sorted(maps.Keys(h.dead)) {
		if r.IntN(2) == 0 {
			h.revive(node)
			continue
		}
		h.say("node %s, whose kubelet is dead, leaves", node)
		delete(h.dead, node)
		if h.records[nodes].objects[node] == nil {
			continue
		}
		h.must(h.kube.CoreV1().Nodes().Delete(context.Background(), node, metav1.DeleteOptions{}))
	}
	h.settle()
}

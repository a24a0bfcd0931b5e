// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/internal/testing/fakecluster/scheduler"
	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/internal/testing/scenario"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// setScenario is a cluster of one DaemonSet and its nodes.
type setScenario struct {
	*scenario.Cluster
	set      *v1alpha1.DaemonSet
	nodes    []*corev1.Node
	ended    podplan.BackOff
	attempts attempts
	features Features
}

// scripted is a new scenario as a player of scripts.
func scripted(t scenario.TB) (*scenario.Cluster, *setScenario) {
	w := &setScenario{ended: podplan.BackOff{Most: mostBackOff}, set: patches.Changed(words, &v1alpha1.DaemonSet{}, "new")}
	w.Cluster = scenario.New(t, *metav1.NewControllerRef(w.set, daemonKind), words)
	w.GeneratedNames, w.Graceful = true, true
	return w.Cluster, w
}

func (w *setScenario) snapshot() *Snapshot {
	s := &Snapshot{Set: w.set.DeepCopy(), Pods: slices.Clone(w.Pods), Revisions: slices.Clone(w.Revisions), Now: w.Now, Features: w.features}
	for _, node := range w.nodes {
		s.Nodes = append(s.Nodes, node.DeepCopy())
	}
	s.BackOff = w.backOff()
	s.Disrupted = w.attempts.disrupted(w.set, w.Pods, w.nodes, w.Now)
	if w.OwnerEnding() {
		s.Set.DeletionTimestamp = &metav1.Time{Time: w.Now}
	}
	return s
}

func (w *setScenario) backOff() map[string]time.Time {
	this := backOffName(w.set, "")
	byNode := map[string]time.Time{}
	for name, at := range w.ended.Until(keyOf(w.set), w.Now, func(name string) bool { return !strings.HasPrefix(name, this) }) {
		byNode[strings.TrimPrefix(name, this)] = at
	}
	return byNode
}

// Reconcile plans once, shows the plan and applies it.
func (w *setScenario) Reconcile(out *strings.Builder) bool {
	if w.OwnerGone() {
		return false
	}
	plan := NewPlan(w.snapshot())
	scenario.ShowReconcile(func(out *strings.Builder) { w.show(plan, out) }, out)
	w.apply(plan)
	return acts(plan)
}

func (w *setScenario) apply(plan *Plan) {
	for _, p := range plan.Patch {
		if p.Kind == rollout.PatchUpdateInPlace {
			w.attempts.disrupts(w.set, scheduler.NodeOf(p.Pod))
		}
	}
	for _, d := range plan.Delete {
		if d.For == rollout.DeleteForUpdate && plan.Rollout.MaxSurge == 0 {
			w.attempts.disrupts(w.set, scheduler.NodeOf(d.Pod))
		}
		if d.For == "Failed" && !w.Refused["delete"] {
			w.ended.Replaced(keyOf(w.set), backOffName(w.set, scheduler.NodeOf(d.Pod)), w.Now)
		}
	}
	w.ApplyPlan(&plan.Plan)
	if plan.Status != nil {
		w.set.Status = *plan.Status.DeepCopy()
	}
	w.set.ResourceVersion = w.Bump()
}

func (w *setScenario) show(plan *Plan, out *strings.Builder) {
	w.ShowRevisions(&plan.Revisions, out)
	for _, d := range plan.Delete {
		fmt.Fprintf(out, "  delete %s on %s (%s)\n", w.Alias(d.Pod.Name), scheduler.NodeOf(d.Pod), d.For)
	}
	w.ShowPatches(plan.Patch, out)
	for _, c := range plan.Create {
		fmt.Fprintf(out, "  create a pod on %s at %s\n", scheduler.NodeOf(c.Pod), c.Pod.Labels[podplan.RevisionLabel])
	}
	w.ShowDeletedRevisions(&plan.Revisions, out)
	w.ShowReasons(&plan.Plan, out)
	for _, wait := range plan.WaitingNodes {
		fmt.Fprintf(out, "  wait %s: %s\n", wait.Name, wait.Reason)
	}
	if plan.RequeueAfter > 0 {
		fmt.Fprintf(out, "  again in %s\n", plan.RequeueAfter)
	}
}

// Status shows the status in a line, and every condition in one more.
func (w *setScenario) Status(out *strings.Builder) {
	fmt.Fprintf(out, "%s hash=%s current=%s\n", showStatus(&w.set.Status), w.set.Status.DaemonSetHash, w.set.Status.CurrentRevision)
	for _, c := range w.set.Status.Conditions {
		fmt.Fprintf(out, "%s=%s: %s\n", c.Type, c.Status, c.Message)
	}
}

// MinReadySeconds is that of the spec.
func (w *setScenario) MinReadySeconds() int32 { return w.set.Spec.MinReadySeconds }

// Feature switches a feature on.
func (w *setScenario) Feature(name string) { w.SwitchOn(&w.features, name) }

// Command knows "node name…", which adds nodes, "node-gone name…", "taint name [effect]",
// "node-label name [key=value]" and "on", which shows the pods of each node.
func (w *setScenario) Command(d *datadriven.TestData, out *strings.Builder) bool {
	arg := func(i int) string {
		if i < len(d.CmdArgs) {
			return d.CmdArgs[i].Key
		}
		return ""
	}
	switch d.Cmd {
	case "node":
		for _, a := range d.CmdArgs {
			w.nodes = append(w.nodes, newNode(a.Key))
		}
	case "node-gone":
		w.removeNode(arg(0))
	case "taint":
		w.taint(arg(0), corev1.TaintEffect(arg(1)))
	case "node-label":
		w.node(arg(0)).Labels[arg(1)] = strings.Join(d.CmdArgs[1].Vals, "")
	case "on":
		w.showNodes(out)
	default:
		return false
	}
	return true
}

// available tells whether a pod serves.
func (w *setScenario) available(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && lifecycle.Available(pod, w.set.Spec.MinReadySeconds, w.Now)
}

func (w *setScenario) node(name string) *corev1.Node {
	for _, node := range w.nodes {
		if node.Name == name {
			return node
		}
	}
	return nil
}

func (w *setScenario) removeNode(name string) {
	w.nodes = slices.DeleteFunc(w.nodes, func(n *corev1.Node) bool { return n.Name == name })
}

// taint sets the taint of a node; no effect removes it.
func (w *setScenario) taint(name string, effect corev1.TaintEffect) {
	node := w.node(name)
	node.Spec.Taints = nil
	if effect != "" {
		node.Spec.Taints = []corev1.Taint{{Key: "a", Effect: effect}}
	}
}

// showNodes shows the pods of each node.
func (w *setScenario) showNodes(out *strings.Builder) {
	on := map[string][]string{}
	for _, pod := range w.Pods {
		state := "available"
		switch {
		case pod.DeletionTimestamp != nil:
			state = "terminating"
		case pod.Status.Phase == corev1.PodFailed:
			state = "failed"
		case !w.available(pod):
			state = "unavailable"
		}
		on[scheduler.NodeOf(pod)] = append(on[scheduler.NodeOf(pod)], fmt.Sprintf("%s %s %s", w.Alias(pod.Name), pod.Spec.Containers[0].Image, state))
	}
	for _, node := range w.nodes {
		fmt.Fprintf(out, "%s: %s\n", node.Name, strings.Join(on[node.Name], ", "))
	}
}

// Spec changes fields of the spec, each given as key=value, in one write.
func (w *setScenario) Spec(changes ...string) { scenario.ChangeSpec(words, w.set, changes...) }

// TestScripts plays the rollouts in testdata: see scenario.RunScripts and setScenario.Command. Keys of spec are words of DaemonSets, which
// testdata/words.yaml explains.
func TestScripts(t *testing.T) { scenario.RunScripts(t, "testdata/scripts", scripted) }

// SPDX-License-Identifier: Apache-2.0

// Package tree draws a workload as a tree. It has its revisions, their pods with what they wait for, and the
// containers of each, with the SidecarSets that they come from. [Of] is a pure function of the workload and its
// plan.
package tree

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubectl/pkg/util/podutils"

	"github.com/podwright/podwright/examples/kubectl-podwright/plan"
	"github.com/podwright/podwright/examples/kubectl-podwright/workload"
	"github.com/podwright/podwright/inplace/revision"
	sidecarv1alpha1 "github.com/podwright/podwright/sidecar/v1alpha1"
)

// Node is a line of the tree and what hangs on it.
type Node struct {
	Text     string
	Children []*Node
}

// Of returns the tree of a workload. Pods of a revision that is gone hang on its name. The children are those of a
// UnitedDeployment. (KC-18)
func Of(o *workload.Object, p *plan.Plan, children []plan.Child) *Node {
	if o.GetKind() == "UnitedDeployment" {
		return united(o, p, children)
	}
	root := &Node{Text: o.Title()}
	d := &drawing{plan: p, rows: rowsByPod(p)}
	revisionOf := func(pod *corev1.Pod) string { return pod.Labels[appsv1.ControllerRevisionHashLabelKey] }
	if o.GetKind() == "SidecarSet" {
		d.only = o.GetName()
		revisionOf = func(pod *corev1.Pod) string { return recordsOf(pod)[d.only].SidecarSetControllerRevision }
	}
	byRevision := map[string][]*corev1.Pod{}
	for _, pod := range p.Pods {
		name := revision.ShortHash(revisionOf(pod))
		byRevision[name] = append(byRevision[name], pod)
	}
	for _, r := range history(p) {
		short := revision.ShortHash(r.Name)
		root.Children = append(root.Children, d.revision(d.describe(r), byRevision[short]))
		delete(byRevision, short)
	}
	for _, name := range sortedKeys(byRevision) {
		text := "revision " + cmp.Or(name, "unknown") + " (gone)"
		if name == "" && d.only != "" {
			text = "not injected"
		}
		root.Children = append(root.Children, d.revision(text, byRevision[name]))
	}
	for _, row := range p.Rows() {
		if row.Rule != "" && !slices.ContainsFunc(p.Pods, func(pod *corev1.Pod) bool { return p.NameOf(pod) == row.Pod }) {
			root.Children = append(root.Children, &Node{Text: row.Pod + waits + row.Detail})
		}
	}
	return root
}

// waits and next stand before what something waits for, and what is done to it.
const (
	waits = "  waits: "
	next  = "  next: "
)

// drawing is what the nodes of pods are made of.
type drawing struct {
	plan *plan.Plan
	rows map[string][]plan.Row
	// only is the SidecarSet whose containers are drawn, empty for all containers.
	only string
}

func rowsByPod(p *plan.Plan) map[string][]plan.Row {
	rows := map[string][]plan.Row{}
	for _, row := range p.Rows() {
		rows[row.Pod] = append(rows[row.Pod], row)
	}
	return rows
}

// history returns the revisions, the newest first; that of the template is there before it exists.
func history(p *plan.Plan) []*appsv1.ControllerRevision {
	all := slices.Clone(p.History)
	if c := p.Revisions.Create; c != nil {
		all = append(all, c)
	}
	revision.Sort(all)
	slices.Reverse(all)
	return all
}

func (d *drawing) describe(r *appsv1.ControllerRevision) string {
	text, p := fmt.Sprintf("revision %s (%d)", r.Name, r.Revision), d.plan
	if p.Revisions.Update != nil && r.Name == p.Revisions.Update.Name {
		if d.only != "" {
			text += ", of the spec"
		} else {
			text += ", of the template"
		}
	}
	if p.Revisions.Create != nil && r.Name == p.Revisions.Create.Name {
		text += ", not created yet"
	}
	return text
}

func (d *drawing) revision(text string, pods []*corev1.Pod) *Node {
	return &Node{Text: text, Children: d.pods(pods)}
}

func (d *drawing) pods(pods []*corev1.Pod) (nodes []*Node) {
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return cmp.Compare(d.plan.NameOf(a), d.plan.NameOf(b)) })
	for _, pod := range pods {
		nodes = append(nodes, d.pod(pod))
	}
	return nodes
}

func (d *drawing) pod(pod *corev1.Pod) *Node {
	name := d.plan.NameOf(pod)
	text := "pod " + name + "  " + phase(pod)
	if pod.Spec.NodeName != "" {
		text += " on " + pod.Spec.NodeName
	}
	node := &Node{Text: text + outcome(d.rows[name])}
	sidecars := sidecarsOf(pod)
	for i := range pod.Spec.Containers {
		if c := &pod.Spec.Containers[i]; d.only == "" || sidecars[c.Name] == d.only {
			node.Children = append(node.Children, &Node{Text: containerText(pod, c, sidecars)})
		}
	}
	return node
}

// outcome says what is done to something, and what it waits for.
func outcome(rows []plan.Row) (text string) {
	for _, row := range rows {
		if row.Rule != "" {
			text += waits + row.Detail
		} else {
			text += next + row.Action
		}
	}
	return text
}

func phase(pod *corev1.Pod) string {
	switch {
	case pod.DeletionTimestamp != nil:
		return "terminating"
	case podutils.IsPodReady(pod):
		return "ready"
	case pod.Status.Phase == corev1.PodRunning:
		return "not ready"
	}
	return strings.ToLower(cmp.Or(string(pod.Status.Phase), "Pending"))
}

func containerText(pod *corev1.Pod, c *corev1.Container, sidecars map[string]string) string {
	kind := "container " + c.Name
	if set := sidecars[c.Name]; set != "" {
		kind = "sidecar " + c.Name + " of " + set
	}
	text := kind + "  " + c.Image
	for _, status := range pod.Status.ContainerStatuses {
		if status.Name != c.Name {
			continue
		}
		switch {
		case status.State.Waiting != nil:
			text += "  " + status.State.Waiting.Reason
		case status.State.Terminated != nil:
			text += fmt.Sprintf("  ended with %d", status.State.Terminated.ExitCode)
		case status.State.Running != nil:
			text += "  running"
		}
		if status.RestartCount > 0 {
			text += fmt.Sprintf(", restarts: %d", status.RestartCount)
		}
	}
	return text
}

// sidecarsOf returns the SidecarSet of each container that one has injected, by the records on the pod.
func sidecarsOf(pod *corev1.Pod) map[string]string {
	by := map[string]string{}
	for set, record := range recordsOf(pod) {
		for _, container := range record.SidecarList {
			by[container] = set
		}
	}
	return by
}

// recordsOf returns what SidecarSets have written on a pod. What cannot be read says nothing.
func recordsOf(pod *corev1.Pod) map[string]sidecarv1alpha1.SidecarSetUpgradeRecord {
	records := map[string]sidecarv1alpha1.SidecarSetUpgradeRecord{}
	_ = json.Unmarshal([]byte(cmp.Or(pod.Annotations[sidecarv1alpha1.SidecarSetHashAnnotation], "{}")), &records)
	return records
}

func sortedKeys[T any](m map[string]T) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// String draws the tree, one node a line.
func (n *Node) String() string {
	var text strings.Builder
	n.draw(&text, "", "")
	return text.String()
}

func (n *Node) draw(text *strings.Builder, first, rest string) {
	text.WriteString(first + n.Text + "\n")
	for i, child := range n.Children {
		if i == len(n.Children)-1 {
			child.draw(text, rest+"└── ", rest+"    ")
		} else {
			child.draw(text, rest+"├── ", rest+"│   ")
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"fmt"

	"github.com/podwright/podwright/examples/kubectl-podwright/plan"
	"github.com/podwright/podwright/examples/kubectl-podwright/workload"
)

// united returns the tree of a UnitedDeployment: its subsets, and of each its workload with what hangs on that.
func united(o *workload.Object, p *plan.Plan, children []plan.Child) *Node {
	root := &Node{Text: o.Title()}
	rows := rowsByPod(p)
	drawn := map[string]bool{}
	for _, child := range children {
		name := "subset " + child.Name
		drawn[name] = true
		node := &Node{Text: fmt.Sprintf("%s  pods: %d%s", name, child.Replicas, outcome(rows[name]))}
		if child.Object != nil {
			under := workloadNode(&child)
			drawn[under.Text] = true
			under.Text += outcome(rows[under.Text])
			node.Children = append(node.Children, under)
		}
		root.Children = append(root.Children, node)
	}
	for _, row := range p.Rows() { // what no subset has, or has not yet
		if !drawn[row.Pod] {
			root.Children = append(root.Children, &Node{Text: row.Pod + outcome([]plan.Row{row})})
		}
	}
	return root
}

// workloadNode is the tree of the workload of a subset. One of a kind of Kubernetes has no plan: its pods hang on it.
func workloadNode(child *plan.Child) *Node {
	if child.Object.Kind() != nil {
		return Of(child.Object, child.Plan, nil)
	}
	d := &drawing{plan: child.Plan}
	return &Node{Text: child.Object.Title(), Children: d.pods(child.Plan.Pods)}
}

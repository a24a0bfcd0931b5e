// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	utilcomp "k8s.io/kubectl/pkg/util/completion"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/podwright/podwright/examples/kubectl-podwright/explain"
	"github.com/podwright/podwright/examples/kubectl-podwright/plan"
	"github.com/podwright/podwright/examples/kubectl-podwright/workload"
)

// explain prints why a workload does not move. (KC-20)
func (c *commands) explain() *cobra.Command {
	observer := explain.Observer{}
	cmd := &cobra.Command{
		Use:                   "explain (TYPE NAME | TYPE/NAME)",
		DisableFlagsInUseLine: true,
		Short:                 "Name what keeps a workload from moving",
		Long: templates.LongDesc(`
			Name what keeps the pods of a cloneset, or of an advanced statefulset or daemonset, from being created, updated and
			deleted, or the sidecars of a sidecarset from being updated, and what would end that: causes first, and then what
			follows from them. Of a uniteddeployment that is followed by the same of the workload of each subset.

			It looks at what the controller plans, at the pods and their nodes, at budgets and requests, and at the manager and the
			node agents. What you may not read is left out, and named at the end.`),
		Example: templates.Examples(`
			# Why does the rollout of a cloneset not go on
			` + c.name + ` explain cloneset/web

			# Why do pods still have the old sidecars of a sidecarset
			` + c.name + ` explain sidecarset/mesh`),
		ValidArgsFunction: utilcomp.SpecifiedResourceTypeAndNameNoRepeatCompletionFunc(c.factory, planned),
		Run: func(cmd *cobra.Command, args []string) {
			o, _, err := c.subject(args, "")
			cmdutil.CheckErr(err)
			cmdutil.CheckErr(c.printExplanation(cmd.Context(), &observer, o))
		},
	}
	cmd.Flags().StringVar(&observer.Lease, "manager-lease", "kruise-system/kruise-manager", "The Lease of the manager, as NAMESPACE/NAME.")
	cmd.Flags().StringVar(&observer.AgentNamespace, "agent-namespace", "kruise-system", "The namespace of the node agent's pods.")
	cmd.Flags().StringVar(&observer.AgentSelector, "agent-selector", "app.kubernetes.io/name=podwright-nodeagent", "The labels of the node agent's pods.")
	return cmd
}

func (c *commands) printExplanation(ctx context.Context, observer *explain.Observer, o *workload.Object) error {
	planner, err := c.planner()
	if err != nil {
		return err
	}
	next, err := planner.Plan(ctx, o)
	if err != nil {
		return err
	}
	children, err := planner.Children(ctx, next)
	if err != nil {
		return err
	}
	if observer.Kubernetes, err = c.factory.KubernetesClientSet(); err != nil {
		return err
	}
	if observer.Lister.Dynamic, err = c.factory.DynamicClient(); err != nil {
		return err
	}
	if observer.Lister.Mapper, err = c.factory.ToRESTMapper(); err != nil {
		return err
	}
	s := &explain.Situation{Object: o, Plan: next, Now: c.clock.Now()}
	unread := observer.Fill(ctx, s)
	fmt.Fprint(c.Out, said(s))
	for _, child := range children {
		if child.Object != nil {
			fmt.Fprintf(c.Out, "\nSubset %s, %s:\n%s", child.Name, child.Object.Title(), indent(saidOfChild(s, &child)))
		}
	}
	if unread != nil {
		fmt.Fprintf(c.ErrOut, "Could not be read:\n%v\n", unread)
	}
	return nil
}

// said is all that there is to say about a situation.
func said(s *explain.Situation) string {
	var text strings.Builder
	for _, b := range explain.Explain(s) {
		text.WriteString(b.String() + "\n")
	}
	text.WriteString(outlook(s) + "\n")
	return text.String()
}

// saidOfChild is what there is to say about the workload of a subset, around which all is as around the UnitedDeployment. What
// the controllers of Kubernetes do next is theirs to say.
func saidOfChild(s *explain.Situation, child *plan.Child) string {
	of := *s
	of.Object, of.Plan = child.Object, child.Plan
	of.Lease, of.LeaseMissing = nil, false // said before
	if child.Object.Kind() != nil {
		return said(&of)
	}
	var text strings.Builder
	for _, b := range explain.Explain(&of) {
		text.WriteString(b.String() + "\n")
	}
	return cmp.Or(text.String(), "All of its pods are ready.\n")
}

// indent indents lines.
func indent(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n  ") + "\n"
}

// outlook says what the next reconcile does about pods or workloads, as long as a manager runs.
func outlook(s *explain.Situation) string {
	what, rows := "pod", s.Plan.Rows()
	if s.Object.GetKind() == "UnitedDeployment" {
		what = "workload"
	}
	var actions []string
	pods := map[string][]string{}
	for _, row := range rows {
		if row.Rule != "" {
			continue
		}
		if pods[row.Action] == nil {
			actions = append(actions, row.Action)
		}
		pods[row.Action] = append(pods[row.Action], row.Pod)
	}
	switch {
	case len(rows) == 0:
		return "No " + what + " is to be changed."
	case len(actions) == 0:
		return "The next reconcile changes no " + what + "."
	}
	for i, action := range actions {
		actions[i] = action + ": " + strings.Join(pods[action], ", ")
	}
	return "The next reconcile goes on: " + strings.Join(actions, "; ") + "."
}

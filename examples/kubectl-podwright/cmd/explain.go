// SPDX-License-Identifier: Apache-2.0

package cmd

import (
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
			deleted, and what would end that: causes first, and then what follows from them.

			It looks at what the controller plans, at the pods and their nodes, at budgets and requests, and at the manager and the
			node agents. What you may not read is left out, and named at the end.`),
		Example: templates.Examples(`
			# Why does the rollout of a cloneset not go on
			` + c.name + ` explain cloneset/web`),
		ValidArgsFunction: utilcomp.SpecifiedResourceTypeAndNameNoRepeatCompletionFunc(c.factory, planned),
		Run: func(cmd *cobra.Command, args []string) {
			o, err := c.subject(args, "")
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
	next, err := c.planFor(ctx, o)
	if err != nil {
		return err
	}
	if observer.Kubernetes, err = c.factory.KubernetesClientSet(); err != nil {
		return err
	}
	if observer.Dynamic, err = c.factory.DynamicClient(); err != nil {
		return err
	}
	if observer.Mapper, err = c.factory.ToRESTMapper(); err != nil {
		return err
	}
	s := &explain.Situation{Object: o, Plan: next, Now: c.clock.Now()}
	unread := observer.Fill(ctx, s)
	for _, b := range explain.Explain(s) {
		fmt.Fprintln(c.Out, b.String())
	}
	fmt.Fprintln(c.Out, outlook(next.Rows()))
	if unread != nil {
		fmt.Fprintf(c.ErrOut, "Could not be read:\n%v\n", unread)
	}
	return nil
}

// outlook says what the next reconcile does about pods, as long as a manager runs.
func outlook(rows []plan.Row) string {
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
		return "No pod is to be changed."
	case len(actions) == 0:
		return "The next reconcile changes no pod."
	}
	for i, action := range actions {
		actions[i] = action + ": " + strings.Join(pods[action], ", ")
	}
	return "The next reconcile goes on: " + strings.Join(actions, "; ") + "."
}

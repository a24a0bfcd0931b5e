// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"context"
	"fmt"
	"slices"
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
	var output string
	observer := explain.Observer{}
	cmd := &cobra.Command{
		Use:                   "explain (TYPE NAME | TYPE/NAME)",
		DisableFlagsInUseLine: true,
		Short:                 "Name what keeps a workload from moving",
		Long: templates.LongDesc(`
			Name what keeps a workload from moving, and what would end that: causes first, and then what follows from them.
			Workloads are clonesets, advanced statefulsets and daemonsets, sidecarsets and uniteddeployments. After a
			uniteddeployment comes the workload of each subset. Of other kinds it says what their status says: what has been held up
			for a minute, by what, and since when.

			It looks at what the controller plans, at the pods and their nodes, at budgets and requests, and at the manager and the
			node agents. What you may not read is left out, and named at the end.`),
		Example: templates.Examples(`
			# Why does the rollout of a cloneset not go on
			` + c.name + ` explain cloneset/web

			# Why do pods still have the old sidecars of a sidecarset
			` + c.name + ` explain sidecarset/mesh

			# What keeps a budget from allowing anything
			` + c.name + ` explain podunavailablebudget/web`),
		ValidArgsFunction: utilcomp.SpecifiedResourceTypeAndNameNoRepeatCompletionFunc(c.factory, slices.Concat(withPlans, onlyTold())),
		Run: func(cmd *cobra.Command, args []string) {
			if told, err := c.explainTold(cmd.Context(), &observer, args, output); told || err != nil {
				cmdutil.CheckErr(err)
				return
			}
			o, _, err := c.subject(args, "")
			cmdutil.CheckErr(err)
			s, children, unread, err := c.situation(cmd.Context(), &observer, o)
			cmdutil.CheckErr(err)
			if output != "" {
				cmdutil.CheckErr(c.encode(output, explanationOf(s, children)))
			} else {
				c.printExplanation(s, children)
			}
			if unread != nil {
				fmt.Fprintf(c.ErrOut, "Could not be read:\n%v\n", unread)
			}
		},
	}
	addOutputFlag(cmd, &output)
	addLeaseFlag(cmd, &observer)
	c.addManagerFlags(cmd)
	cmd.Flags().StringVar(&observer.AgentNamespace, "agent-namespace", "kruise-system", "The namespace of the node agent's pods.")
	cmd.Flags().StringVar(&observer.AgentSelector, "agent-selector", "app.kubernetes.io/name=podwright-nodeagent", "The labels of the node agent's pods.")
	return cmd
}

// situation reads a workload's situation, and the workloads of its subsets if it has some. What could not be read is
// named.
func (c *commands) situation(ctx context.Context, observer *explain.Observer, o *workload.Object) (s *explain.Situation, children []plan.Child, unread, err error) {
	planner, err := c.planner()
	if err != nil {
		return nil, nil, nil, err
	}
	next, err := planner.Plan(ctx, o)
	if err != nil {
		return nil, nil, nil, err
	}
	if children, err = planner.Children(ctx, next); err != nil {
		return nil, nil, nil, err
	}
	children = slices.DeleteFunc(children, func(child plan.Child) bool { return child.Object == nil })
	if observer.Kubernetes, err = c.factory.KubernetesClientSet(); err != nil {
		return nil, nil, nil, err
	}
	if observer.Lister.Dynamic, err = c.factory.DynamicClient(); err != nil {
		return nil, nil, nil, err
	}
	if observer.Lister.Mapper, err = c.factory.ToRESTMapper(); err != nil {
		return nil, nil, nil, err
	}
	refused, err := planner.Refused(ctx, o)
	if err != nil {
		return nil, nil, nil, err
	}
	s = &explain.Situation{Object: o, Plan: next, Refused: refused, Now: c.clock.Now()}
	return s, children, observer.Fill(ctx, s), nil
}

func (c *commands) printExplanation(s *explain.Situation, children []plan.Child) {
	fmt.Fprint(c.Out, said(s))
	for i := range children {
		child := &children[i]
		fmt.Fprintf(c.Out, "\nSubset %s, %s:\n%s", child.Name, child.Object.Title(), indent(said(ofChild(s, child))))
	}
}

// explanation is one as data.
type explanation struct {
	// Of is the workload, as TYPE/NAME, and Subset the one that it is of.
	Of       string            `json:"of"`
	Subset   string            `json:"subset,omitempty"`
	Blockers []explain.Blocker `json:"blockers"`
	Next     []plan.Row        `json:"next"`
	Subsets  []explanation     `json:"subsets,omitempty"`
}

func explanationOf(s *explain.Situation, children []plan.Child) explanation {
	e := explanation{Of: s.Object.Title(), Blockers: list(explain.Explain(s)), Next: list(s.Plan.Rows())}
	for i := range children {
		child := explanationOf(ofChild(s, &children[i]), nil)
		child.Subset = children[i].Name
		e.Subsets = append(e.Subsets, child)
	}
	return e
}

// said is all that there is to say about a situation. What the controllers of Kubernetes do next is theirs to say.
func said(s *explain.Situation) string {
	var text strings.Builder
	for _, b := range explain.Explain(s) {
		text.WriteString(b.String() + "\n")
	}
	switch {
	case s.Object.Kind() != nil:
		text.WriteString(outlook(s) + "\n")
	case text.Len() == 0:
		return "All of its pods are ready.\n"
	}
	return text.String()
}

// ofChild is the situation of the workload of a subset, around which all is as around the UnitedDeployment.
func ofChild(s *explain.Situation, child *plan.Child) *explain.Situation {
	of := *s
	of.Object, of.Plan = child.Object, child.Plan
	of.Lease, of.LeaseMissing = nil, false // said before
	return &of
}

// indent indents lines.
func indent(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n  ") + "\n"
}

// outlook says what the next reconcile does about pods or workloads, as long as a manager runs.
func outlook(s *explain.Situation) string {
	what, rows := s.Object.Kind().Makes(), s.Plan.Rows()
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

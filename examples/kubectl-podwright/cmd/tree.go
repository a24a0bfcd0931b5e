// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	utilcomp "k8s.io/kubectl/pkg/util/completion"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/podwright/podwright/examples/kubectl-podwright/tree"
)

// tree draws a workload. (KC-18)
func (c *commands) tree() *cobra.Command {
	var watch bool
	cmd := &cobra.Command{
		Use:                   "tree (TYPE NAME | TYPE/NAME)",
		DisableFlagsInUseLine: true,
		Short:                 "Draw a workload with its revisions, pods and containers",
		Long: templates.LongDesc(`
			Draw a cloneset, an advanced statefulset or daemonset, or a sidecarset as a tree: its revisions, the newest first, and the pods of each.
			Beside a pod stands what happens to it next, or what it waits for. Below it stand its containers, with the sidecarsets that they
			come from. Of a sidecarset the pods are those that it selects, in all namespaces, and the containers its own; of a
			uniteddeployment the tree has its subsets, and of each its workload.`),
		Example: templates.Examples(`
			# Draw a cloneset
			` + c.name + ` tree cloneset/web

			# Draw it again whenever something has changed
			` + c.name + ` tree cloneset/web --watch`),
		ValidArgsFunction: utilcomp.SpecifiedResourceTypeAndNameNoRepeatCompletionFunc(c.factory, withPlans),
		Run: func(cmd *cobra.Command, args []string) {
			cmdutil.CheckErr(c.drawTree(cmd.Context(), args, watch))
		},
	}
	c.addManagerFlags(cmd)
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "After the tree, draw it again when something in it has changed, until interrupted.")
	return cmd
}

// drawTree draws the tree once, or whenever it is another one than before.
func (c *commands) drawTree(ctx context.Context, args []string, watch bool) error {
	planner, err := c.planner()
	if err != nil {
		return err
	}
	drawn := ""
	for {
		o, _, err := c.subject(args, "")
		if err != nil {
			return err
		}
		p, err := planner.Plan(ctx, o)
		if err != nil {
			return err
		}
		children, err := planner.Children(ctx, p)
		if err != nil {
			return err
		}
		if text := tree.Of(o, p, children).String(); text != drawn {
			if drawn != "" {
				fmt.Fprintln(c.Out)
			}
			fmt.Fprint(c.Out, text)
			drawn = text
		}
		if !watch {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(c.interval):
		}
	}
}

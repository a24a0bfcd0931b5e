// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/util/templates"
	utilexec "k8s.io/utils/exec"

	"github.com/podwright/podwright/examples/kubectl-podwright/takeover"
)

// The exit codes of takeover check, beside 0. (KC-26)
const (
	exitUnread  = 1
	exitAnswers = 2
)

func (c *commands) takeover() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "takeover SUBCOMMAND",
		Short: "Look at a cluster of OpenKruise before podwright takes it over",
		Long:  "Look at a cluster of OpenKruise before podwright takes it over. Nothing is written.",
		Run:   cmdutil.DefaultSubCommandRun(c.ErrOut),
	}
	cmd.AddCommand(c.takeoverCheck())
	return cmd
}

// takeoverCheck prints what a take-over would do. (KC-26)
func (c *commands) takeoverCheck() *cobra.Command {
	var output, backTo string
	reader := takeover.Reader{}
	cmd := &cobra.Command{
		Use:                   "check",
		DisableFlagsInUseLine: true,
		Short:                 "Say what a take-over from OpenKruise would do to each object",
		Long: templates.LongDesc(`
			Say what becomes of each object if podwright takes this cluster over from OpenKruise 1.4 to 1.9. It says what needs an
			answer before that, what OpenKruise holds in a state that never ends, and what will happen by itself.

			It looks at definitions, webhooks, programs and their gates, leases, finalizers, copies of pull secrets, workloads and pods.
			What the first reconcile of a workload does, podwright's own planners say.

			With a release to go back to, it says instead what that release of OpenKruise could not read.

			It reads only: it gets and lists, page by page, and of Secrets the metadata alone. The exit code is 0 if nothing stands in the way, 1 if
			something cannot be read, and 2 if an answer is needed.`),
		Example: templates.Examples(`
			# What a take-over would do to this cluster
			` + c.name + ` takeover check

			# The same of two namespaces, and of what has none
			` + c.name + ` takeover check --namespaces=shop,bank

			# For a manager that behaves as OpenKruise 1.9, as data
			` + c.name + ` takeover check --release=1.9 --feature-gates=ResourceDistributionGate=true -o json

			# What OpenKruise 1.8 could not read if this cluster were handed back to it
			` + c.name + ` takeover check --back-to=1.8`),
		Args: cobra.NoArgs,
		Run: func(cmd *cobra.Command, _ []string) {
			report, err := c.checkTakeover(cmd.Context(), &reader, backTo)
			cmdutil.CheckErr(err)
			if output != "" {
				cmdutil.CheckErr(c.encode(output, report))
			} else {
				cmdutil.CheckErr(report.Print(c.Out))
			}
			for _, unread := range report.Unread {
				fmt.Fprintln(c.ErrOut, "Could not be read: "+unread)
			}
			cmdutil.CheckErr(verdict(report))
		},
	}
	addOutputFlag(cmd, &output)
	c.addManagerFlags(cmd)
	cmd.Flags().StringVar(&reader.Namespace, "manager-namespace", "kruise-system", "The namespace of OpenKruise's manager.")
	cmd.Flags().StringSliceVar(&reader.Namespaces, "namespaces", nil, "The namespaces to look at. All if not specified.")
	cmd.Flags().StringVar(&backTo, "back-to", "", "The release of OpenKruise to hand the cluster back to: "+strings.Join(takeover.Releases, ", ")+".")
	cmd.Flags().IntVar(&reader.Limit, "limit", 20000, "How many objects of a kind are read at most. What is beyond is said.")
	completes(cmd, "back-to", func(*cobra.Command, []string, string) []string { return takeover.Releases })
	completes(cmd, "namespaces", several(c.names("namespace", "")))
	return cmd
}

// checkTakeover reads the cluster and judges it.
func (c *commands) checkTakeover(ctx context.Context, reader *takeover.Reader, backTo string) (report *takeover.Report, err error) {
	switch {
	case reader.Limit < 1:
		return nil, fmt.Errorf("--limit must be 1 or more, not %d", reader.Limit)
	case backTo != "" && !slices.Contains(takeover.Releases, backTo):
		return nil, fmt.Errorf("--back-to must be one of %s, not %q", strings.Join(takeover.Releases, ", "), backTo)
	}
	if reader.Planner, err = c.planner(); err != nil {
		return nil, err
	}
	reader.Planner.Remember()
	if reader.Dynamic, err = c.factory.DynamicClient(); err != nil {
		return nil, err
	}
	if reader.Kubernetes, err = c.factory.KubernetesClientSet(); err != nil {
		return nil, err
	}
	if reader.Mapper, err = c.factory.ToRESTMapper(); err != nil {
		return nil, err
	}
	if reader.Gates, err = c.managerGates(); err != nil {
		return nil, err
	}
	reader.Clock = c.clock
	if reader.Back = backTo != ""; reader.Back {
		return takeover.CheckBack(reader.Read(ctx), backTo), nil
	}
	return takeover.Check(reader.Read(ctx)), nil
}

// verdict is the error that a check ends with; nil if nothing stands in the way.
func verdict(report *takeover.Report) error {
	switch {
	case report.NeedsAnswers():
		return utilexec.CodeExitError{Err: errors.New("answers are needed before the take-over"), Code: exitAnswers}
	case len(report.Unread) > 0:
		return utilexec.CodeExitError{Err: errors.New("not all could be read"), Code: exitUnread}
	}
	return nil
}

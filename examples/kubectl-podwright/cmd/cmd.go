// SPDX-License-Identifier: Apache-2.0

// Package cmd holds the commands. Most of them are kubectl's own, taken as they are: flags, output, dry runs,
// errors and exit codes are kubectl's. Packages workload and rollout teach them the kinds of podwright; here they get
// examples and completion for these. A command that kubectl does not have is written from the same parts.
package cmd

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/kubectl/pkg/cmd/options"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	utilcomp "k8s.io/kubectl/pkg/util/completion"
	"k8s.io/kubectl/pkg/util/templates"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/examples/kubectl-podwright/rollout"
	"github.com/podwright/podwright/examples/kubectl-podwright/workload"
	"github.com/podwright/podwright/examples/process/features"
	"github.com/podwright/podwright/examples/process/switches"
)

// commands is what all commands are made with.
type commands struct {
	// name is how users call the program: "kubectl podwright".
	name    string
	factory *workload.Factory
	clock   clock.WithTicker
	// interval is how often a command looks again at what it waits for.
	interval time.Duration
	// gates are those that the manager of the cluster is said to have.
	gates features.Flags
	// settings are those that it is said to have beside them.
	settings *switches.Settings
	genericiooptions.IOStreams
}

// New returns the program, called by the given name, with the flags that say which cluster it is about. It
// teaches kubectl's commands the kinds of podwright, for the whole process.
func New(name string, flags *genericclioptions.ConfigFlags, streams genericiooptions.IOStreams) *cobra.Command {
	matching := cmdutil.NewMatchVersionFlags(flags)
	root := newRoot(name, matching, streams, clock.RealClock{})
	flags.AddFlags(root.PersistentFlags())
	matching.AddFlags(root.PersistentFlags())
	return root
}

// newRoot is New without the flags.
func newRoot(name string, getter genericclioptions.RESTClientGetter, streams genericiooptions.IOStreams, clock clock.WithTicker) *cobra.Command {
	c := &commands{name: name, factory: workload.NewFactory(getter), clock: clock, interval: time.Second, IOStreams: streams, gates: features.Flags{Release: podwright.Release14}, settings: switches.NewSettings()}
	workload.Install()
	rollout.Install(c.factory, clock, c.managerGates)
	warnings := rest.NewWarningWriter(streams.ErrOut, rest.WarningWriterOptions{Deduplicate: true})
	rest.SetDefaultWarningHandler(warnings)
	var warningsAsErrors bool
	root := &cobra.Command{
		Use:   program(name),
		Short: "Workloads of podwright, by kubectl's commands",
		Long: templates.LongDesc(`
			Kubectl's workload commands, for the kinds of podwright and OpenKruise too: CloneSet, the advanced StatefulSet
			(asts, statefulsets.apps.kruise.io) and DaemonSet (ads, daemonsets.apps.kruise.io), UnitedDeployment and
			SidecarSet. A name without a group, such as statefulset/web, stands for the kind of Kubernetes.

			Flags, output and exit codes are kubectl's.`),
		Annotations:       map[string]string{cobra.CommandDisplayNameAnnotation: name},
		SilenceUsage:      true,
		SilenceErrors:     true,
		PersistentPreRunE: c.prepare,
		PersistentPostRunE: func(*cobra.Command, []string) error {
			switch count := warnings.WarningCount(); {
			case !warningsAsErrors || count == 0:
				return nil
			case count == 1:
				return errors.New("1 warning received")
			default:
				return fmt.Errorf("%d warnings received", count)
			}
		},
		Run: func(cmd *cobra.Command, _ []string) { _ = cmd.Help() },
	}
	root.PersistentFlags().BoolVar(&warningsAsErrors, "warnings-as-errors", false, "Treat warnings received from the server as errors and exit with a non-zero exit code")
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.ErrOut)
	groups := c.groups()
	groups.Add(root)
	c.nameExamples(root)
	root.AddCommand(options.NewCmdOptions(streams.Out))
	templates.ActsAsRootCommand(root, []string{"options", "help"}, groups...)
	utilcomp.SetFactoryForCompletion(c.factory)
	root.SetGlobalNormalizationFunc(cliflag.WordSepNormalizeFunc)
	return root
}

// prepare runs before every command.
func (c *commands) prepare(cmd *cobra.Command, _ []string) error {
	if local := cmd.Flags().Lookup("local"); local != nil {
		c.factory.Local = local.Value.String() == "true"
	}
	return nil
}

func (c *commands) groups() templates.CommandGroups {
	return templates.CommandGroups{
		{Message: "Rollout Commands:", Commands: []*cobra.Command{c.plan(), c.explain(), c.tree(), c.rollout(), c.set()}},
		{Message: "Basic Commands:", Commands: []*cobra.Command{c.create(), c.exec()}},
		{Message: "Scaling Commands:", Commands: []*cobra.Command{c.scale(), c.scaledown(), c.autoscale(), c.expose(), c.migrate(), c.takeover()}},
		{Message: "Settings Commands:", Commands: []*cobra.Command{c.completion(), c.man(), c.version()}},
	}
}

// knows gives one of kubectl's commands examples with the kinds of podwright, and completion for the given kinds.
func (c *commands) knows(cmd *cobra.Command, examples string, kinds ...string) *cobra.Command {
	cmd.Example = templates.Examples(examples) + "\n\n" + cmd.Example
	if len(kinds) > 0 {
		cmd.ValidArgsFunction = utilcomp.SpecifiedResourceTypeAndNameCompletionFunc(c.factory, kinds)
	}
	return cmd
}

// nameExamples has the examples of all commands call this program.
func (c *commands) nameExamples(cmd *cobra.Command) {
	lines := strings.Split(cmd.Example, "\n")
	for i, line := range lines {
		call := strings.TrimLeft(line, " ")
		if arguments, ok := strings.CutPrefix(call, "kubectl "); ok && !strings.HasPrefix(call, c.name+" ") {
			lines[i] = line[:len(line)-len(call)] + c.name + " " + arguments
		}
	}
	cmd.Example = strings.Join(lines, "\n")
	for _, sub := range cmd.Commands() {
		c.nameExamples(sub)
	}
}

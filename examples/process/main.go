// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/component-base/cli"
	logsapi "k8s.io/component-base/logs/api/v1"
	_ "k8s.io/component-base/logs/json/register" // --log-format=json
	"k8s.io/klog/v2"

	"github.com/podwright/podwright/examples/process/version"
)

// Program is what differs between the programs.
type Program struct {
	Name string
	// AddFlags defines the flags, which are read before one of the following is called.
	AddFlags func(*pflag.FlagSet)
	// RBAC returns the objects that the program needs with its flags, as YAML.
	RBAC func() ([]byte, error)
	// Policies returns the admission policies that go with these flags, as YAML, which may be none.
	Policies func() ([]byte, error)
	// Run works until the context is done.
	Run func(context.Context) error
}

// Main is a whole command: it reads the arguments, which do not include the name of the program, and runs it until
// SIGTERM or SIGINT. A second signal ends the process at once. It returns the exit code: 0 after an orderly end, 1 after
// a failure.
//
// It sets what belongs to a process as a whole, signals and the log among them. A program that has its own idea of them
// does without.
func (p Program) Main(arguments []string) int { return cli.Run(p.command(arguments)) }

func (p Program) command(arguments []string) *cobra.Command {
	logging, printRBAC, printPolicies := logsapi.NewLoggingConfiguration(), false, false
	command := &cobra.Command{Use: p.Name, Version: version.String(), Args: cobra.NoArgs, RunE: func(command *cobra.Command, _ []string) error {
		switch {
		case printRBAC:
			return printManifest(command, p.RBAC)
		case printPolicies:
			return printManifest(command, p.Policies)
		}
		if err := logsapi.ValidateAndApply(logging, nil); err != nil {
			return err
		}
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
		context.AfterFunc(ctx, stop)
		logger := klog.Background()
		logger.Info("Starting", "program", p.Name, "version", version.String())
		if err := p.Run(klog.NewContext(ctx, logger)); err != nil {
			return err
		}
		logger.Info("Ended in order")
		return nil
	}}
	flags := command.Flags()
	flags.SortFlags = false
	p.AddFlags(flags)
	flags.BoolVar(&printRBAC, "print-rbac", false, "print a ServiceAccount with the RBAC rules that the other flags take, as YAML, and end")
	flags.BoolVar(&printPolicies, "print-policies", false, "print the ValidatingAdmissionPolicies that go with the other flags, for Kubernetes 1.30 and newer, as YAML, and end")
	logsapi.AddFlags(logging, flags)
	flags.StringVar(&logging.Format, "log-format", logging.Format, "the same as --logging-format")
	WithoutEffect(flags, true, "the log always goes to standard error", "logtostderr", "alsologtostderr")
	command.SetArgs(arguments)
	return command
}

// printManifest prints what a manifest has, also if it is an error.
func printManifest(command *cobra.Command, manifest func() ([]byte, error)) error {
	text, err := manifest()
	fmt.Fprint(command.OutOrStdout(), string(text))
	return err
}

// WithoutEffect accepts flags of OpenKruise that have no effect here, and says why when one is given. Switches need no
// value.
func WithoutEffect(flags *pflag.FlagSet, switches bool, why string, names ...string) {
	for _, name := range names {
		flags.String(name, "", "")
		if switches {
			flags.Lookup(name).NoOptDefVal = "true"
		}
		_ = flags.MarkDeprecated(name, "it has no effect: "+why) // fails for names that are not defined
	}
}

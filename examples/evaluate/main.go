// SPDX-License-Identifier: Apache-2.0

// Command evaluate shows podwright at work. It starts a real control plane on this
// machine and runs the controller of CloneSets. It updates the pods of one in place
// before the user's eyes. Or it updates those of another kind of workload, or the
// sidecars of a SidecarSet. Or it drains the nodes of pods that have a
// PodUnavailableBudget. In the end it says what it has checked of it.
//
//	go run ./evaluate [--kind=budget] [--node=real]
//
// It needs the go command and nothing else; with --node=real, root, runc and CNI
// plugins, to run real containers. With the environment variable
// KUBECONFIG or the flag --kubeconfig it works in that cluster instead, in a
// namespace of its own.
package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// options are the flags.
type options struct {
	Kind, Node        string
	Kubeconfig        string // empty: a cluster of the demo's own
	Exit, InstallCRDs bool
	Patience          time.Duration
}

// The kinds of nodes in a cluster of the demo's own.
const nodeSimulated, nodeReal = "simulated", "real"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	err := command(os.Getenv("KUBECONFIG"), func(ctx context.Context, o options) error {
		return (&demo{options: o, kind: kinds[o.Kind], screen: newScreen(os.Stdout)}).run(ctx)
	}).ExecuteContext(ctx)
	if errors.Is(err, errInterrupted) {
		os.Exit(130) // as a shell reports a program that Ctrl-C has ended
	} else if err != nil {
		os.Exit(1)
	}
}

// command reads the flags and runs the demo.
func command(kubeconfig string, run func(context.Context, options) error) *cobra.Command {
	var o options
	c := &cobra.Command{
		Use: "evaluate", Short: "Shows what becomes of pods, on a real API server: updates in place, sidecars, drains.", Args: cobra.NoArgs, SilenceUsage: true,
		PreRunE: func(*cobra.Command, []string) error { return o.complete() },
		RunE:    func(c *cobra.Command, _ []string) error { return run(c.Context(), o) },
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.StringVar(&o.Kind, "kind", "cloneset", "what to show: "+knownKinds())
	flags.StringVar(&o.Node, "node", nodeSimulated, "nodes of the cluster that is started: "+nodeSimulated+", or "+nodeReal+" ones, which run containers and need root, runc and CNI plugins")
	flags.BoolVar(&o.Exit, "exit", false, "end after the checks; the exit code is 1 if one failed")
	flags.StringVar(&o.Kubeconfig, "kubeconfig", kubeconfig, "work in this cluster, in a namespace that is removed in the end ($KUBECONFIG); empty starts a cluster on this machine")
	flags.BoolVar(&o.InstallCRDs, "install-crds", false, "install the CRDs in a given cluster that lacks them; they stay")
	flags.DurationVar(&o.Patience, "patience", 2*time.Minute, "how long a step may take before the demo gives up")
	return c
}

// complete says what is wrong with the options.
func (o *options) complete() error {
	o.Kind = strings.ToLower(o.Kind)
	k := kinds[o.Kind]
	switch {
	case k == nil:
		return fmt.Errorf("--kind=%s: want one of: %s", o.Kind, knownKinds())
	case o.Node != nodeSimulated && o.Node != nodeReal:
		return fmt.Errorf("--node=%s: want %s or %s", o.Node, nodeSimulated, nodeReal)
	case o.Node == nodeReal && o.Kubeconfig != "":
		return fmt.Errorf("--node=%s: want no cluster that is there already, found kubeconfig %s; start one with --kubeconfig=\"\"", o.Node, o.Kubeconfig)
	case o.Node == nodeReal && k.Nodes > 0:
		return fmt.Errorf("--kind=%s: it is shown on %d nodes, one for each pod: want --node=%s", o.Kind, k.Nodes, nodeSimulated)
	case o.Kubeconfig != "" && k.Alone != "":
		return fmt.Errorf("--kind=%s: it is shown in a cluster of its own, for %s: want --kubeconfig=\"\"", o.Kind, k.Alone)
	case o.Patience <= 0:
		return fmt.Errorf("--patience=%v: want more than 0", o.Patience)
	}
	return nil
}

func knownKinds() string { return strings.Join(slices.Sorted(maps.Keys(kinds)), ", ") }

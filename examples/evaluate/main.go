// SPDX-License-Identifier: Apache-2.0

// Command evaluate shows podwright at work: it starts a real control plane on
// this machine, runs the controller of CloneSets, and updates the pods of one in place
// before the user's eyes, or those of another kind of workload. In the end it says
// what it has checked of it.
//
//	go run ./evaluate [--kind=statefulset] [--node=real]
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

	"github.com/spf13/pflag"
)

// Exit codes.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130 // as a shell reports a program that Ctrl-C has ended
)

// options are the flags; parse says what they mean.
type options struct {
	Kind, Node        string
	Kubeconfig        string // empty: a cluster of the demo's own
	Exit, InstallCRDs bool
	Patience          time.Duration
}

// The kinds of nodes in a cluster of the demo's own.
const nodeSimulated, nodeReal = "simulated", "real"

func main() { os.Exit(run(os.Args[1:])) }

func run(arguments []string) int {
	o, err := parse(arguments, os.Getenv("KUBECONFIG"))
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return exitOK
	case err != nil:
		fmt.Fprintf(os.Stderr, "evaluate: %v; --help shows the flags\n", err)
		return exitUsage
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once

	d := &demo{options: o, kind: kinds[o.Kind], screen: newScreen(os.Stdout)}
	if err := d.run(ctx); err == errInterrupted {
		return exitInterrupted
	} else if err != nil {
		fmt.Fprintf(os.Stderr, "\nThe demo failed: %v\n", err)
		return exitFailed
	}
	return exitOK
}

// parse reads the command line.
func parse(arguments []string, kubeconfig string) (o options, err error) {
	flags := pflag.NewFlagSet("evaluate", pflag.ContinueOnError)
	flags.SortFlags = false
	flags.Usage = func() {
		fmt.Printf("Shows pods that are updated in place, on a real API server.\n\nUsage: go run ./evaluate [flags]\n\n%s", flags.FlagUsages())
	}
	known := strings.Join(slices.Sorted(maps.Keys(kinds)), ", ")
	flags.StringVar(&o.Kind, "kind", "cloneset", "kind of workload to show: "+known)
	flags.StringVar(&o.Node, "node", nodeSimulated, "nodes of the cluster that is started: "+nodeSimulated+", or "+nodeReal+" ones, which run containers and need root, runc and CNI plugins")
	flags.BoolVar(&o.Exit, "exit", false, "end after the checks; the exit code is 1 if one failed")
	flags.StringVar(&o.Kubeconfig, "kubeconfig", kubeconfig, "work in this cluster, in a namespace that is removed in the end ($KUBECONFIG); empty starts a cluster on this machine")
	flags.BoolVar(&o.InstallCRDs, "install-crds", false, "install the CRDs in a given cluster that lacks them; they stay")
	flags.DurationVar(&o.Patience, "patience", 2*time.Minute, "how long a step may take before the demo gives up")
	err = flags.Parse(arguments)
	o.Kind = strings.ToLower(o.Kind)
	switch {
	case err != nil:
		return o, err
	case flags.NArg() > 0:
		return o, fmt.Errorf("unexpected arguments %q: want flags only", flags.Args())
	case kinds[o.Kind] == nil:
		return o, fmt.Errorf("--kind=%s: want one of: %s", o.Kind, known)
	case o.Node != nodeSimulated && o.Node != nodeReal:
		return o, fmt.Errorf("--node=%s: want %s or %s", o.Node, nodeSimulated, nodeReal)
	case o.Node == nodeReal && o.Kubeconfig != "":
		return o, fmt.Errorf("--node=%s: want no cluster that is there already, found kubeconfig %s; start one with --kubeconfig=\"\"", o.Node, o.Kubeconfig)
	case o.Patience <= 0:
		return o, fmt.Errorf("--patience=%v: want more than 0", o.Patience)
	}
	return o, nil
}

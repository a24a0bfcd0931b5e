// SPDX-License-Identifier: Apache-2.0

// Command up starts a cluster on this machine and keeps it until Ctrl-C:
//
//	go run ./tests/cluster/up -nodes 10
//	kubectl --kubeconfig … get nodes
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/podwright/podwright/examples/tests/cluster"
)

func main() {
	o := cluster.Options{Log: os.Stderr}
	flag.IntVar(&o.Nodes, "nodes", 3, "number of simulated nodes")
	flag.IntVar(&o.RealNodes, "real-nodes", 0, "number of nodes that run real containers")
	flag.StringVar(&o.Dir, "dir", "", "directory to keep the cluster in (default a temporary one)")
	flag.BoolVar(&o.Audit, "audit", false, "write an audit log")
	check := flag.Bool("check", false, "tell whether real nodes can run on this machine, and end")
	delay := flag.Duration("start-delay", 0, "how long a simulated container takes to start (default 1s)")
	flag.Parse()
	flag.Visit(func(f *flag.Flag) {
		if f.Name == "start-delay" {
			o.StartDelay = delay
		}
	})
	if o.Nodes == 0 {
		o.Nodes = -1
	}
	if *check {
		if missing := cluster.RealNodesMissing(); len(missing) > 0 {
			fmt.Fprintln(os.Stderr, &cluster.MissingError{Missing: missing})
			os.Exit(1)
		}
		fmt.Println("this machine can run real nodes")
		return
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o cluster.Options) error {
	c, err := cluster.Start(ctx, o)
	if err != nil {
		return err
	}
	fmt.Printf("export KUBECONFIG=%s\n", c.Kubeconfig())
	if log := c.AuditLog(); log != "" {
		fmt.Fprintf(os.Stderr, "audit log: %s\n", log)
	}
	fmt.Fprintln(os.Stderr, "Ctrl-C stops the cluster")
	<-ctx.Done()
	return c.Stop()
}

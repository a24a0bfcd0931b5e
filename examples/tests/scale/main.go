// SPDX-License-Identifier: Apache-2.0

// Command scale measures the manager beside as many objects as a large cluster has, on a control plane of its own. By default
// that is 5,000 nodes, 2,000 workloads and 100,000 pods.
//
//	make scale
//	go run ./tests/scale -namespaces 25 -nodes 500
//
// The manager, the API server and etcd are real. The first namespace is real, too: the controllers make its pods and revisions,
// and simulated kubelets have them run. The others are copies of it, written to etcd while the manager is down, with other UIDs
// and nodes. Nothing renews the Leases of nodes, and there is no scheduler.
//
// A rollout is measured twice: when the cluster has nothing but the pods that are updated, and beside all others.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

// size is how much stands in the cluster. Each namespace has 320 pods in 8 workloads, and each node runs 4 pods of DaemonSets.
type size struct {
	namespaces, nodes int
	// requests to each webhook, and how many of them in a second.
	requests, rate int
	// memoryLimit is the GOMEMLIMIT of the manager; empty for none, as by default.
	memoryLimit string
}

func (s size) String() string {
	return fmt.Sprintf("%d nodes, %d workloads, %d pods", s.nodes, s.namespaces*8+4, s.namespaces*320+s.nodes*4)
}

func main() {
	var s size
	flag.IntVar(&s.namespaces, "namespaces", 250, "namespaces, each with 320 pods in 8 workloads")
	flag.IntVar(&s.nodes, "nodes", 5000, "nodes, each with 4 pods of DaemonSets")
	flag.IntVar(&s.requests, "requests", 1000, "requests to each webhook; 0 asks none")
	flag.IntVar(&s.rate, "rate", 200, "requests to a webhook in a second")
	flag.StringVar(&s.memoryLimit, "memory-limit", "", "GOMEMLIMIT of the manager, as 400MiB; empty: none")
	flag.Parse()
	klog.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	figures, err := measure(ctx, s, os.Stderr)
	fmt.Println(s)
	figures.print(os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// measure starts a cluster, measures all, and ends the cluster. If it fails, it returns the figures that it has.
func measure(ctx context.Context, s size, log io.Writer) (f figures, err error) {
	b, err := newBench(ctx, s, log)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	err = b.measureAll(ctx)
	return b.figures, err
}

// SPDX-License-Identifier: Apache-2.0

// Command controlplane is a Kubernetes control plane in one file: etcd, kube-apiserver, kube-controller-manager,
// kube-scheduler, kubelet and KWOK, picked by the first argument. Package cluster builds it and runs each of them as a
// child process, so that any one can be killed, stopped or restarted alone. As goroutines of one process they could not.
//
// A child lives as long as its standard input stays open. The parent holds the other end of that pipe, and the kernel
// closes it however the parent dies.
package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	_ "time/tzdata" // CronJobs name time zones, and a bare machine may have no database of them

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

var components = map[string]func() error{
	"etcd":                    runEtcd,
	"kube-apiserver":          command(apiserver.NewAPIServerCommand),
	"kube-controller-manager": command(controllermanager.NewControllerManagerCommand),
	"kube-scheduler":          command(func() *cobra.Command { return scheduler.NewSchedulerCommand() }),
	"kubelet":                 command(newKubelet),
	"kwok":                    runKwok,
}

func main() {
	if len(os.Args) < 2 || components[os.Args[1]] == nil {
		names := slices.Sorted(maps.Keys(components))
		fmt.Fprintf(os.Stderr, "usage: controlplane %s [flags]\n", strings.Join(names, "|"))
		os.Exit(2)
	}
	run := components[os.Args[1]]
	// The components read the command line themselves and expect to be alone on it.
	os.Args = os.Args[1:]
	exitWithParent()
	if err := run(); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", os.Args[0], err)
		os.Exit(1)
	}
}

// command adapts the cobra commands of Kubernetes. They are made only when they run: making one registers its feature
// gates and flags process-wide.
func command(create func() *cobra.Command) func() error {
	return func() error {
		if code := cli.Run(create()); code != 0 {
			os.Exit(code)
		}
		return nil
	}
}

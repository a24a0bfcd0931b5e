// SPDX-License-Identifier: Apache-2.0

// Command nodeagent runs the node's half of podwright, one process per node. It
// takes the place of OpenKruise's daemon: flags, feature gates, and the address of
// its probes are the same. What it does stands in package app.
package main

import (
	"os"
	"runtime/debug"

	// They measure requests to the API server and work queues. There can be one such package in a program, and tests run
	// the agent in one with the manager, which has others.
	_ "k8s.io/component-base/metrics/prometheus/restclient"
	_ "k8s.io/component-base/metrics/prometheus/workqueue"

	"github.com/podwright/podwright/examples/nodeagent/app"
)

// gcPercent is half of Go's default. An agent allocates little and lives on every node: to collect its garbage twice as often
// saves one or two megabytes there.
const gcPercent = 50

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	os.Exit(app.Main(os.Args[1:]))
}

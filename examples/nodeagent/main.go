// SPDX-License-Identifier: Apache-2.0

// Command nodeagent runs the node's half of podwright, one process per node. It
// takes the place of OpenKruise's daemon: flags, feature gates, and the address of
// its probes are the same. What it does stands in package app.
package main

import (
	"os"

	"github.com/podwright/podwright/examples/nodeagent/app"
)

func main() { os.Exit(app.Main(os.Args[1:])) }

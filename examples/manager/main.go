// SPDX-License-Identifier: Apache-2.0

// Command manager runs the controllers and webhooks of podwright in a cluster, or
// outside of it. It takes the place of OpenKruise's manager: flags, feature
// gates, ports and the names of its objects are the same. What it does stands in
// package app.
package main

import (
	"os"

	"github.com/podwright/podwright/examples/manager/app"
)

func main() { os.Exit(app.Main(os.Args[1:])) }

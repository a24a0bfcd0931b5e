// SPDX-License-Identifier: Apache-2.0

// Command machine is the first process of what looks like a machine of its own to a kubelet and its container runtime. It
// runs in namespaces of its own for processes, mounts, the network and control groups. Package cluster starts one for
// each real node, and everything of that node runs inside.
//
// The namespaces are what makes the end of a node orderly, whatever brought it about. When this process ends, the kernel
// kills every process of the node. With the last of them go its mounts, its network and its firewall rules. This process
// ends when its standard input closes, which the kernel does however the parent dies.
//
//	machine -cgroup=NAME -ready-file=FILE -keep=DIR...
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
)

// options are the flags.
type options struct {
	// Cgroup is the name of a new control group at the top of every hierarchy; the machine is confined to it.
	Cgroup string
	// ReadyFile is written when others may enter the machine.
	ReadyFile string
	// Keep lists directories that stay visible, wherever they lie.
	Keep []string
}

func main() {
	var o options
	flag.StringVar(&o.Cgroup, "cgroup", "", "name of the machine's control group")
	flag.StringVar(&o.ReadyFile, "ready-file", "", "file to write when the machine is up")
	flag.Func("keep", "directory that stays visible (repeated)", func(dir string) error {
		o.Keep = append(o.Keep, dir)
		return nil
	})
	flag.Parse()
	if o.Cgroup == "" || strings.Contains(o.Cgroup, "/") || o.ReadyFile == "" {
		fmt.Fprintln(os.Stderr, "machine: want -cgroup, a name without slashes, and -ready-file")
		os.Exit(2)
	}
	if err := run(o); err != nil {
		fmt.Fprintf(os.Stderr, "machine: %v\n", err)
		os.Exit(1)
	}
}

// SPDX-License-Identifier: Apache-2.0

// Command kubectl-podwright is a plugin of kubectl: kubectl's own workload commands, for podwright's kinds too. On the
// PATH it answers to "kubectl podwright", and under the name kubectl-kruise to "kubectl kruise". What it does
// stands in RULES.md, rule by rule, and how in package cmd.
package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/klog/v2"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/podwright/podwright/examples/kubectl-podwright/cmd"
)

func main() {
	flags := genericclioptions.NewConfigFlags(true).WithDeprecatedPasswordFlag().WithDiscoveryBurst(300).WithDiscoveryQPS(50)
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
	defer klog.Flush()
	root := cmd.New(name(os.Args[0]), flags, streams)
	os.Args[0] = "kubectl" // kubectl's own messages advise "get" of the program of this name, and the plugin has none
	verbosity(root)
	cmdutil.CheckErr(root.Execute())
}

// verbosity gives the program kubectl's flags -v and --vmodule. Package component-base/cli has them too, and with them the
// metrics of a server: two megabytes.
func verbosity(root *cobra.Command) {
	var all flag.FlagSet
	klog.InitFlags(&all)
	for _, name := range []string{"v", "vmodule"} {
		root.PersistentFlags().AddGoFlag(all.Lookup(name))
	}
}

// name is how users call the plugin.
func name(program string) string {
	base := strings.TrimSuffix(filepath.Base(program), ".exe")
	if plugin, ok := strings.CutPrefix(base, "kubectl-"); ok {
		return "kubectl " + plugin
	}
	return base
}

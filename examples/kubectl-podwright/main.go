// SPDX-License-Identifier: Apache-2.0

// Command kubectl-podwright is a plugin of kubectl: kubectl's own workload commands, for podwright's kinds too. On the
// PATH it answers to "kubectl podwright", and under the name kubectl-kruise to "kubectl kruise". What it does
// stands in RULES.md, rule by rule, and how in package cmd.
package main

import (
	"os"
	"path/filepath"
	"strings"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/component-base/cli"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/podwright/podwright/examples/kubectl-podwright/cmd"
)

func main() {
	flags := genericclioptions.NewConfigFlags(true).WithDeprecatedPasswordFlag().WithDiscoveryBurst(300).WithDiscoveryQPS(50)
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
	if err := cli.RunNoErrOutput(cmd.New(name(os.Args[0]), flags, streams)); err != nil {
		cmdutil.CheckErr(err)
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

// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// (KC-21)
func TestCompletion(t *testing.T) {
	c := newCluster(t)
	c.create(cloneset("", ""))
	for _, test := range []struct{ args, want string }{
		{"rollout undo clo", "cloneset\n"},
		{"plan stat", "statefulset.apps.kruise.io\n"},
		{"scaledown c", "cloneset\n"},
		{"expl", "explain\tName what keeps a workload from moving\n"},
	} {
		if got := c.run(append([]string{"__complete"}, strings.Fields(test.args)...)...); !strings.HasPrefix(got, test.want) {
			t.Errorf("%q is completed by\n%s", test.args, got)
		}
	}
	if got := c.run("completion", "bash"); !strings.Contains(got, "kubectl-podwright") {
		t.Error("the code for bash does not name the program")
	}
}

// Every command that does something says what, and shows it by examples that call this program. (KC-21)
func TestHelp(t *testing.T) {
	streams, _, _, _ := genericiooptions.NewTestIOStreams()
	root := New("kubectl kruise", genericclioptions.NewConfigFlags(true), streams)
	seen := 0
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			check(sub)
		}
		if !cmd.Runnable() || cmd == root || cmd.Name() == "options" || cmd.Name() == "help" {
			return
		}
		seen++
		if cmd.Short == "" || cmd.Long == "" || cmd.Example == "" && !cmd.HasSubCommands() {
			t.Errorf("%s: short %q, long %q, example %q", cmd.CommandPath(), cmd.Short, cmd.Long, cmd.Example)
		}
		for _, line := range strings.Split(cmd.Example, "\n") {
			if words := strings.Fields(line); len(words) > 1 && words[0] == "kubectl" && words[1] != "kruise" {
				t.Errorf("%s: an example calls another program: %s", cmd.CommandPath(), line)
			}
		}
	}
	check(root)
	if seen < 30 {
		t.Errorf("only %d commands were seen", seen)
	}
}

// SPDX-License-Identifier: Apache-2.0

package documents

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	plugin "github.com/podwright/podwright/examples/kubectl-podwright/cmd"
	manager "github.com/podwright/podwright/examples/manager/app"
	agent "github.com/podwright/podwright/examples/nodeagent/app"
)

// ours are the commands of the plugin that kubectl does not have; what the others say is kubectl's.
var ours = []string{"explain", "man", "migrate", "plan", "scaledown", "takeover", "tree", "version"}

// clause ends a part of a text of help that can be read by itself.
var clause = regexp.MustCompile(`[;.?!:]\s+|\n\s*\n`)

// TestHelpTexts wants what --help of the programs says to be read once, too.
func TestHelpTexts(t *testing.T) {
	n := 0
	check := func(what, text string) {
		for _, part := range clause.Split(text, -1) {
			if n++; wrong(strings.TrimSpace(part)) != "" {
				t.Errorf("%s: %s (%d words): %s", what, wrong(part), words(part), strings.TrimSpace(part))
			}
		}
	}
	flags := func(what string, of *pflag.FlagSet) {
		of.VisitAll(func(f *pflag.Flag) {
			if f.Name != "feature-gates" { // a list
				check(what+" --"+f.Name, f.Usage)
			}
		})
	}
	config, err := manager.NewConfig(noEnv)
	if err != nil {
		t.Fatal(err)
	}
	agents := agent.NewConfig(noEnv)
	for what, add := range map[string]func(*pflag.FlagSet){"manager": config.AddFlags, "nodeagent": agents.AddFlags} {
		of := pflag.NewFlagSet(what, pflag.ContinueOnError)
		add(of)
		flags(what, of)
	}
	root := plugin.New("kubectl podwright", genericclioptions.NewConfigFlags(false), genericiooptions.NewTestIOStreamsDiscard())
	check("kubectl podwright", root.Long)
	var found []string
	for _, c := range root.Commands() {
		if slices.Contains(ours, c.Name()) {
			found = append(found, c.Name())
			check(c.Name(), c.Short)
			check(c.Name(), c.Long)
			flags(c.Name(), flagsOf(c))
			for _, sub := range c.Commands() {
				check(c.Name()+" "+sub.Name(), sub.Long)
				flags(c.Name()+" "+sub.Name(), flagsOf(sub))
			}
		}
	}
	if slices.Sort(found); !slices.Equal(found, ours) || n < 100 {
		t.Errorf("read %d texts, of the commands %v, want those of %v", n, found, ours)
	}
}

// flagsOf returns the flags that a command has for itself.
func flagsOf(c *cobra.Command) *pflag.FlagSet {
	own := pflag.NewFlagSet(c.Name(), pflag.ContinueOnError)
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if c.InheritedFlags().Lookup(f.Name) == nil {
			own.AddFlag(f)
		}
	})
	return own
}

// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/cmd/logs"
)

// named matches a flag in a text: --dry-run, -f.
var named = regexp.MustCompile(`(?:^|[\s'"(\[,=/])(--[a-zA-Z][a-zA-Z-]*|-[a-zA-Z]\b)`)

// lacking returns the flags that a text names and a command lacks.
func lacking(text string, has func(flag string) bool) (all []string) {
	for _, m := range named.FindAllStringSubmatch(text, -1) {
		if !has(m[1]) {
			all = append(all, m[1])
		}
	}
	return all
}

// flagsOf tells which flags a command takes.
func flagsOf(cmd *cobra.Command) func(flag string) bool {
	cmd.InitDefaultHelpFlag()
	return func(flag string) bool {
		name, short := strings.TrimLeft(flag, "-"), !strings.HasPrefix(flag, "--")
		for _, set := range []*pflag.FlagSet{cmd.Flags(), cmd.PersistentFlags(), cmd.InheritedFlags()} {
			if short && set.ShorthandLookup(name) != nil || !short && set.Lookup(name) != nil {
				return true
			}
		}
		return false
	}
}

// ours are the commands that kubectl lacks.
var ours = map[string]bool{"plan": true, "explain": true, "tree": true, "scaledown": true, "migrate": true, "man": true, "version": true, "check": true}

// Help names no flag that its command lacks, and examples take the flags of the command that they call. (KC-24)
func TestHelpNamesFlagsThatExist(t *testing.T) {
	streams, _, _, _ := genericiooptions.NewTestIOStreams()
	seen := 0
	leaves(New("kubectl podwright", genericclioptions.NewConfigFlags(true), streams), func(cmd *cobra.Command) {
		has := flagsOf(cmd)
		texts := []string{cmd.Use, cmd.Short, cmd.Long}
		cmd.NonInheritedFlags().VisitAll(func(flag *pflag.Flag) { texts = append(texts, flag.Usage) })
		for line := range strings.Lines(cmd.Example) {
			words := strings.Fields(line)
			if len(words) < 3 || words[0] != "kubectl" {
				continue
			}
			seen++
			called, rest, err := cmd.Root().Find(words[2:])
			if err != nil || called == cmd.Root() {
				t.Errorf("%s: an example calls no command: %s", cmd.CommandPath(), strings.TrimSpace(line))
				continue
			}
			line, _, _ = strings.Cut(strings.Join(rest, " "), " -- ")
			line, _, _ = strings.Cut(line, " | ")
			if missing := lacking(line, flagsOf(called)); len(missing) > 0 {
				t.Errorf("%s: an example has the flags %v, which %s lacks: %s", cmd.CommandPath(), missing, called.CommandPath(), line)
			}
		}
		if missing := lacking(strings.Join(texts, "\n"), has); len(missing) > 0 && cmd.Name() != "docker-registry" { // which shows a call of docker
			t.Errorf("%s: its help names the flags %v, which it lacks", cmd.CommandPath(), missing)
		}
	})
	if seen < 60 {
		t.Errorf("only %d examples were read", seen)
	}
}

// Messages name no flag that no command has. Those of a foreign command stand behind its name. The manager's are those of MIGRATION. (KC-24)
func TestMessagesNameFlagsThatExist(t *testing.T) {
	streams, _, _, _ := genericiooptions.NewTestIOStreams()
	var commands []*cobra.Command
	leaves(New("kubectl podwright", genericclioptions.NewConfigFlags(true), streams), func(cmd *cobra.Command) { commands = append(commands, cmd) })
	ofLogs := flagsOf(logs.NewCmdLogs(nil, streams))
	migration, err := os.ReadFile("../../MIGRATION.md")
	if err != nil {
		t.Fatal(err)
	}
	ofManager := func(flag string) bool { // --serve-v1beta1 has a digit, which named does not match
		return strings.Contains(string(migration), "| `"+flag+"` |") || flag == "--serve-v"
	}
	has := func(flag string) bool {
		for _, cmd := range commands {
			if flagsOf(cmd)(flag) {
				return true
			}
		}
		return false
	}
	read := 0
	for _, folder := range []string{"..", "../../../internal/heldup"} {
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(node ast.Node) bool {
				literal, ok := node.(*ast.BasicLit)
				if !ok || literal.Kind != token.STRING {
					return true
				}
				text, err := strconv.Unquote(literal.Value)
				if err != nil {
					t.Fatal(err)
				}
				of, rest := text, ""
				if before, after, foreign := strings.Cut(text, "kubectl logs "); foreign {
					of, rest = before, " "+after
				}
				manager := ""
				if before, after, managers := strings.Cut(of, "podwright's manager "); managers {
					of, manager = before, " "+after
				}
				for _, missing := range slices.Concat(lacking(of, has), lacking(rest, ofLogs), lacking(manager, ofManager)) {
					if strings.HasPrefix(missing, "--") { // what has one letter is seldom a flag
						t.Errorf("%s: %q names %s, which no command has", path, text, missing)
					}
				}
				read++
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if read < 500 {
		t.Errorf("only %d texts were read", read)
	}
}

// Wrong arguments are refused in words that name no flag that the command lacks, and no command that the plugin lacks. (KC-24)
func TestErrorsNameFlagsThatExist(t *testing.T) {
	c := newCluster(t)
	streams, _, _, _ := genericiooptions.NewTestIOStreams()
	root := newRoot("kubectl podwright", c.flags, streams, c.clock)
	leaves(root, func(cmd *cobra.Command) {
		if !ours[cmd.Name()] {
			return
		}
		for _, arguments := range []string{"", "cloneset", "cloneset/web other", "cloneset cloneset/web", "cloneset/web/x", "nothing/web", "cloneset/ghost", "-f nothing.yaml", "--loud"} {
			if cmd.Name() == "man" && arguments != "" && arguments != "--loud" || arguments == "" && (cmd.Name() == "version" || cmd.Name() == "check") {
				continue // which is right
			}
			args := append(strings.Fields(strings.TrimPrefix(cmd.CommandPath(), "kubectl podwright ")), strings.Fields(arguments)...)
			got := c.run(args...)
			asked := lacking(" "+arguments, func(string) bool { return false }) // the user's own mistake is repeated
			for _, missing := range lacking(got, flagsOf(cmd)) {
				if !strings.Contains(" "+strings.Join(asked, " ")+" ", " "+missing) {
					t.Errorf("%q names %s, which %s lacks:\n%s", args, missing, cmd.Name(), got)
				}
			}
			if !strings.Contains(got, "exit code ") || strings.Contains(got, " get resource/") {
				t.Errorf("%q says\n%s", args, got)
			}
		}
	})
}

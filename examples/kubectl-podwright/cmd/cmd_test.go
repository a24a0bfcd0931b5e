// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// (KC-21)
func TestCompletion(t *testing.T) {
	c := newCluster(t)
	withHistory(c, cloneset("", ""))
	pods(c, c.field("clonesets.apps.kruise.io/web", "metadata", "uid"), "CloneSet", "web-a", "web-b")
	c.create(deployment)
	c.create("{apiVersion: v1, kind: Pod, metadata: {name: other}, spec: {containers: [{name: one, image: x}, {name: two, image: x}]}}")
	c.create("{apiVersion: apps.kruise.io/v1alpha1, kind: SidecarSet, metadata: {name: mesh}, spec: {}}")
	c.create("{apiVersion: apps.kruise.io/v1alpha1, kind: AdvancedCronJob, metadata: {name: report}, spec: {}}")
	for _, test := range []struct{ args, want string }{
		{"rollout undo clo", "cloneset"},
		{"rollout undo cloneset w", "web"},
		{"rollout undo cloneset/w", "cloneset/web"},
		{"rollout status side", "sidecarset"},
		{"rollout history cloneset/web --revision=", "1 2 3"},
		{"rollout undo cloneset/web --to-revision=2", "2"},
		{"rollout undo nothing/web --to-revision=", ""},
		{"plan stat", "statefulset.apps.kruise.io"},
		{"plan sidecarset m", "mesh"},
		{"explain uni", "uniteddeployment"},
		{"tree cloneset/", "cloneset/web"},
		{"set image cloneset/w", "cloneset/web"},
		{"scale cloneset w", "web"},
		{"expose clone", "cloneset"},
		{"autoscale cloneset/w", "cloneset/web"},
		{"scaledown c", "cloneset"},
		{"scaledown cloneset/web --pods=w", "web-a web-b"},
		{"scaledown cloneset/web --pods=web-a,web", "web-a,web-a web-a,web-b"},
		{"scaledown nothing/web --pods=", ""},
		{"exec web-", "web-a web-b"},
		{"exec clo", "cloneset/"},
		{"exec cloneset/", "cloneset/web"},
		{"create crr x --pod=ot", "other"},
		{"create crr x --pod=other --containers=one,t", "one,two"},
		{"create broadcastJob x --from=", "acj/report"},
		{"create job x --from=acj/", "acj/report"},
		{"create imageListPullJob x --from=", "acj/report"},
		{"migrate ", "CloneSet"},
		{"migrate CloneSet --from=", "Deployment"},
		{"migrate CloneSet --src-name=", "web"},
		{"migrate CloneSet --dst-name=", "web"},
	} {
		args := strings.Split(test.args, " ")
		lines := strings.Split(strings.TrimSpace(c.run(append([]string{"__complete"}, args...)...)), "\n")
		var got []string
		for _, line := range lines {
			if strings.HasPrefix(line, ":") { // what follows is for the shell
				break
			}
			word, _, _ := strings.Cut(line, "\t")
			got = append(got, word)
		}
		slices.Sort(got)
		if strings.Join(got, " ") != test.want {
			t.Errorf("%q is completed by %q, want %s", test.args, got, test.want)
		}
	}
	if got := c.run("__complete", "expl"); !strings.HasPrefix(got, "explain\tName what keeps a workload from moving\n") {
		t.Errorf("a command is completed by\n%s", got)
	}
	if got := c.run("completion", "bash"); !strings.Contains(got, "kubectl-podwright") {
		t.Error("the code for bash does not name the program")
	}
}

// leaves calls a function for every command that does something.
func leaves(root *cobra.Command, visit func(cmd *cobra.Command)) {
	for _, sub := range root.Commands() {
		leaves(sub, visit)
	}
	if root.Runnable() && root.HasParent() && root.Name() != "options" && root.Name() != "help" {
		visit(root)
	}
}

// Arguments that name what exists are completed. (KC-21)
func TestArgumentsAreCompleted(t *testing.T) {
	streams, _, _, _ := genericiooptions.NewTestIOStreams()
	leaves(New("kubectl podwright", genericclioptions.NewConfigFlags(true), streams), func(cmd *cobra.Command) {
		switch path := strings.TrimPrefix(cmd.CommandPath(), "kubectl podwright "); {
		case cmd.HasSubCommands(), strings.HasPrefix(path, "create "), path == "man", path == "version", path == "takeover check": // a name that is new, a directory, or nothing
		case path == "set selector", path == "set subject": // kubectl completes none
		case cmd.ValidArgsFunction == nil && len(cmd.ValidArgs) == 0:
			t.Errorf("%s completes no arguments", path)
		}
	})
}

// A man page of each command says all that its help says, and depends on nothing but the date. (KC-21)
func TestManPages(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", fmt.Sprint(noon.Unix()))
	c := newCluster(t)
	dir := t.TempDir() + "/man/man1"
	c.expect("", "man", dir)
	streams, _, _, _ := genericiooptions.NewTestIOStreams()
	leaves(newRoot("kubectl podwright", c.flags, streams, c.clock), func(cmd *cobra.Command) {
		page, err := os.ReadFile(dir + "/" + strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1")
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{`"Mar 2026"`, ".SH SYNOPSIS", ".SH DESCRIPTION", ".SH SEE ALSO", strings.Fields(cmd.Long)[0]} {
			if !strings.Contains(string(page), want) {
				t.Errorf("%s: its page has no %s", cmd.CommandPath(), want)
			}
		}
		cmd.NonInheritedFlags().VisitAll(func(flag *pflag.Flag) {
			if text := strings.ReplaceAll(flag.Name, "-", `\-`); !flag.Hidden && flag.Deprecated == "" && !strings.Contains(string(page), text) && !strings.Contains(string(page), flag.Name) {
				t.Errorf("%s: its page lacks the flag %s", cmd.CommandPath(), flag.Name)
			}
		})
		if cmd.HasExample() && !strings.Contains(string(page), ".SH EXAMPLE") {
			t.Errorf("%s: its page has no examples", cmd.CommandPath())
		}
	})
	first, err := os.ReadFile(dir + "/kubectl-podwright-plan.1")
	if err != nil {
		t.Fatal(err)
	}
	c.expect("", "man", dir)
	if again, err := os.ReadFile(dir + "/kubectl-podwright-plan.1"); err != nil || string(again) != string(first) {
		t.Errorf("the page is another one the second time, %v", err)
	}
	dir = t.TempDir()
	root := New("kubectl podwright", genericclioptions.NewConfigFlags(true), streams)
	if err := writeManPages(root, dir); err != nil {
		t.Fatal(err)
	}
	if page, err := os.ReadFile(dir + "/kubectl-podwright.1"); err != nil || !strings.Contains(string(page), "$HOME/.kube/cache") {
		t.Errorf("the page names a user's folder: %v\n%s", err, page)
	}
	if got := c.run("man"); !strings.Contains(got, "accepts 1 arg(s), received 0") {
		t.Errorf("without a directory it says\n%s", got)
	}
}

// Every command that does something says what, and shows it by examples that call this program. (KC-21)
func TestHelp(t *testing.T) {
	streams, _, _, _ := genericiooptions.NewTestIOStreams()
	root := New("kubectl kruise", genericclioptions.NewConfigFlags(true), streams)
	seen := 0
	leaves(root, func(cmd *cobra.Command) {
		seen++
		if cmd.Short == "" || cmd.Long == "" || cmd.Example == "" && !cmd.HasSubCommands() {
			t.Errorf("%s: short %q, long %q, example %q", cmd.CommandPath(), cmd.Short, cmd.Long, cmd.Example)
		}
		for _, line := range strings.Split(cmd.Example, "\n") {
			if words := strings.Fields(line); len(words) > 1 && words[0] == "kubectl" && words[1] != "kruise" {
				t.Errorf("%s: an example calls another program: %s", cmd.CommandPath(), line)
			}
		}
	})
	if seen < 30 {
		t.Errorf("only %d commands were seen", seen)
	}
	c := newCluster(t)
	if got := c.run("help"); strings.Contains(got, "Other Commands") || !strings.Contains(got, "man ") {
		t.Errorf("the help is\n%s", got)
	}
}

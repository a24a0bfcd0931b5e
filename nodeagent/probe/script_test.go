// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/internal/testing/fakecri/agents"
	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// TestStories plays what happens to the probes of a node: see agents.PlayStories. What time brings is shown: what is reported, how many commands were
// run, requests, and events.
//
//	ask                     the manager asks for the probes that follow, a line each: a pod and a probe, with words of testdata/words.yaml;
//	                        with "ask 1.4.yaml" a manager of OpenKruise does, as it was written down
//	run web-0               starts the container main of a pod: main-1, main-2 and so on
//	exits main-1 idle 3     with what a command exits from now on, or all of a container: -1 does not end, and -2 is refused by the runtime
//	prints                  commands print something else each time
//	delete, create          deletes the NodePodProbe; and creates it again, with the probes that follow
//	since                   how long ago the first probe was run, and its state began
//	pass 10s                lets time pass, and shows no more than how many commands were run: of which probes, is for goroutines to decide
//	knows                   what the agent knows of: how many probes, and how many that run
func TestStories(t *testing.T) {
	agents.PlayStories(t, "testdata/stories", func(t *testing.T) *agents.Story {
		n := newNode(t)
		return &agents.Story{Node: n.Node, ShowAfter: "sleep", Show: n.show,
			Start: func(workers int) {
				n.options.Limits.Concurrency = workers
				n.start()
			},
			Calls: commands,
			Further: map[string]func([]string, string){
				"ask": func(words []string, text string) {
					if len(words) == 0 {
						n.edit(func(of *v1alpha1.NodePodProbe) { of.Spec = newNodePodProbe(changesOf(text)...).Spec })
						return
					}
					data, err := os.ReadFile("testdata/managers/" + words[0])
					n.Must(err)
					n.edit(func(of *v1alpha1.NodePodProbe) { n.Must(yaml.UnmarshalStrict(data, &of.Spec.PodProbes)) })
				},
				"run": func(words []string, _ string) { n.run(words[0]) },
				"exits": func(words []string, _ string) {
					last := len(words) - 1
					n.exits(strings.Join(words[:last], " "), patches.Number(n.T, words[last]))
				},
				"prints": func([]string, string) { n.counts = true },
				"delete": func([]string, string) { n.Must(n.probes.Delete(n.Context(), n.Name, metav1.DeleteOptions{})) },
				"create": func(_ []string, text string) { n.create(changesOf(text)...) },
				"since": func([]string, string) {
					s := n.nodePodProbe().Status.PodProbeStatuses[0].ProbeStates[0]
					n.Tell(fmt.Sprintf("run %s ago, state of %s ago", time.Since(s.LastProbeTime.Time), time.Since(s.LastTransitionTime.Time)))
				},
				"pass": func(words []string, _ string) {
					n.Sleep(patches.Duration(n.T, words[0]))
					n.Tell(commands(n.Runtime.Calls())...)
				},
				"knows": func([]string, string) {
					s, err := n.agent.Snapshot(n.Context(), types.NamespacedName{Name: n.Name})
					n.Must(err)
					n.Tell(fmt.Sprintf("%d probes, %d run", len(s.Probes), s.Running))
				},
			}}
	})
}

// commands counts those that were run in containers.
func commands(calls []string) []string {
	if n := strings.Count(strings.Join(calls, "\n"), "ExecSync "); n > 0 {
		return []string{fmt.Sprint("commands: ", n)}
	}
	return nil
}

// show shows what is reported.
func (n *node) show() (lines []string) {
	list, err := n.probes.List(n.Context(), metav1.ListOptions{})
	n.Must(err)
	for i := range list.Items {
		of := &list.Items[i]
		lines = shownStatus(&of.Status)
		if of.Status.ObservedGeneration != of.Generation {
			lines = append(lines, "an older generation was seen")
		}
	}
	return lines
}

// changesOf reads the probes that are asked for, a line each.
func changesOf(text string) (changes []change) {
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		changes = append(changes, wants(words[0], words[1], words[2:]...))
	}
	return changes
}

// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// TestStories plays what happens to the probes of a node, each file on a node of its own. What time brings is shown: what is reported,
// events, requests, and how many commands were run. To accept a change of behaviour, run the test with -rewrite and read the difference.
//
//	ask                     the manager asks for the probes that follow, a line each: a pod and a probe, with words of testdata/words.yaml;
//	                        with "ask 1.4.yaml" a manager of OpenKruise does, as it was written down
//	run web-0               starts the container main of a pod: main-1, main-2 and so on
//	end main-1              ends it
//	exits main-1 idle 3     with what a command exits from now on: -1 does not end, and -2 is refused by the runtime
//	prints                  commands print something else each time
//	start, stop             starts and stops the agent
//	sleep 10s               lets time pass
//	down, up                has the runtime be away, and back
//	refuse, heal            has the API server refuse what the agent writes
//	delete, create          deletes the NodePodProbe; and creates it again
//	since                   how long ago the first probe was run, and its state began
func TestStories(t *testing.T) {
	datadriven.Walk(t, "testdata/stories", func(t *testing.T, path string) {
		play(t, func(n *node) {
			var former *v1alpha1.NodePodProbe
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
				t.Helper()
				var args []string
				for _, a := range d.CmdArgs {
					args = append(args, a.Key)
				}
				switch d.Cmd {
				case "ask":
					if len(args) > 0 {
						text, err := os.ReadFile("testdata/managers/" + args[0])
						n.Must(err)
						n.edit(func(of *v1alpha1.NodePodProbe) { n.Must(yaml.UnmarshalStrict(text, &of.Spec.PodProbes)) })
					} else {
						n.edit(append([]change{nothing}, changesOf(d.Input)...)...)
					}
				case "delete":
					former = n.nodePodProbe()
					n.Must(n.probes.Delete(n.Context(), n.name, metav1.DeleteOptions{}))
				case "create":
					former.ObjectMeta, former.Status = metav1.ObjectMeta{Name: n.name}, v1alpha1.NodePodProbeStatus{}
					_, err := n.probes.Create(n.Context(), former, metav1.CreateOptions{})
					n.Must(err)
				case "sleep":
					n.Sleep(duration(t, args[0]))
					return n.show()
				case "since":
					s := n.nodePodProbe().Status.PodProbeStatuses[0].ProbeStates[0]
					return fmt.Sprintf("run %s ago, state of %s ago\n", time.Since(s.LastProbeTime.Time), time.Since(s.LastTransitionTime.Time))
				default:
					n.do(d.Cmd, args)
				}
				return ""
			})
		})
	})
}

// do does what a line of a script says.
func (n *node) do(command string, args []string) {
	n.Helper()
	switch command {
	case "run":
		n.run(args[0], "main")
	case "end":
		n.runtime.End(args[0], 1)
	case "exits":
		n.exits(args[0], args[1], int32(number(n.T, args[2])))
	case "prints":
		n.counts = true
	case "start":
		n.start()
	case "stop":
		n.Stop()
	case "down", "up":
		n.runtime.SetDown(command == "down")
	case "heal":
		n.Server.FailBefore(nil)
	case "refuse":
		n.Server.FailBefore(func(r fakecluster.Request) error {
			if strings.HasPrefix(r.User, "agent") && r.Verb == "patch" {
				return apierrors.NewInternalError(errors.New("refused"))
			}
			return nil
		})
	default:
		n.Fatalf("unknown command %s", command)
	}
}

// show shows what is reported, and what has happened since the last time.
func (n *node) show() string {
	var lines []string
	if list, err := n.probes.List(n.Context(), metav1.ListOptions{}); err != nil || len(list.Items) > 0 {
		n.Must(err)
		of := &list.Items[0]
		lines = shownStatus(&of.Status)
		if of.Status.ObservedGeneration != of.Generation {
			lines = append(lines, "an older generation was seen")
		}
	}
	lines = append(append(lines, n.events.All()...), n.Sent(n.user())...)
	n.events.Forget()
	if got := n.execs(); got > 0 {
		lines = append(lines, fmt.Sprint("commands: ", got))
	}
	if len(lines) == 0 {
		return "nothing\n"
	}
	return strings.Join(lines, "\n") + "\n"
}

func duration(t *testing.T, text string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// changesOf reads the probes that are asked for, a line each.
func changesOf(text string) (changes []change) {
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		changes = append(changes, wants(words[0], words[1], words[2:]...))
	}
	return changes
}

// SPDX-License-Identifier: Apache-2.0

package ephemeraljob

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// TestScripts plays the scenarios of testdata/scripts, each in a cluster of its own. Shown are the writes of the
// controller, events, and then the ephemeral containers of all pods and the job. To accept a change of behaviour, run the
// test with -rewrite and read the difference.
//
//	pods web-1 web-2     creates pods
//	job                  creates the job web, with the fields of the spec that follow as JSON
//	edit                 changes it, by the merge patch that follows
//	delete web-1         deletes a pod, and without a name the job
//	kubelet exit0        has every container that runs end so ("running" for not at all), and start those that are new
//	refuse web-1         has the API server refuse to inject into a pod; without a name, into none any more
//	wait 30s             lets time pass
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		inCluster(t, func(t *testing.T, c *cluster) {
			w := &world{cluster: c}
			c.FailAfter(func(r fakecluster.Request) error {
				if r.User == fixture.ControllerUser && !slices.Contains([]string{"get", "list", "watch"}, r.Verb) {
					line := r.String() + " " + fixture.NameIn(r)
					if r.DryRun {
						line += ", a dry run"
					}
					w.note(line)
				}
				return nil
			})
			c.FailBefore(func(r fakecluster.Request) error {
				if r.Subresource == "ephemeralcontainers" && r.Name == w.refused {
					return errPolicy
				}
				return nil
			})
			_, stop := c.start()
			defer stop()
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string { return w.run(t, d) })
		})
	})
}

// world is a cluster in which everything is noted.
type world struct {
	*cluster
	lock    sync.Mutex
	trace   []string
	refused string // the name of the pod
}

func (w *world) note(line string) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.trace = append(w.trace, line)
}

// run does what a line of a script says, and shows what came of it.
func (w *world) run(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	var args []string
	for _, a := range d.CmdArgs {
		args = append(args, a.Key)
	}
	w.do(t, d, args)
	if d.Cmd != "wait" {
		w.Sleep("500ms")
	}
	w.lock.Lock()
	defer w.lock.Unlock()
	lines := append(w.trace, w.Events.All()...)
	w.trace = nil
	w.Events.Forget()
	if len(w.Pods()) > 0 {
		lines = append(lines, sortNames(w.containers()))
	}
	return strings.Join(append(lines, w.outcome("web")), "\n") + "\n"
}

func (w *world) do(t *testing.T, d *datadriven.TestData, args []string) {
	t.Helper()
	switch {
	case d.Cmd == "pods":
		w.addPods(args...)
	case d.Cmd == "job":
		w.Create(testJob("web"), `{"spec":`+d.Input+`}`)
	case d.Cmd == "edit":
		w.Edit(d.Input)
	case d.Cmd == "delete" && len(args) == 0:
		w.Delete()
	case d.Cmd == "delete":
		w.RemovePod(args[0])
	case d.Cmd == "kubelet":
		w.ends = func(string, string) string { return args[0] }
		w.nodeStep()
	case d.Cmd == "refuse":
		w.refused = strings.Join(args, "")
	case d.Cmd == "wait":
		w.Sleep(args[0])
	default:
		d.Fatalf(t, "no such line: %s", d.Cmd)
	}
}

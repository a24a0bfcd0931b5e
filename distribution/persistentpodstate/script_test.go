// SPDX-License-Identifier: Apache-2.0

package persistentpodstate

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// TestScripts plays the scenarios of testdata/scripts, each in a cluster of its own. Shown are how pods are placed, the writes
// of the controller, events, and then the PersistentPodState web. To accept a change of behaviour, run the
// test with -rewrite and read the difference.
//
//	nodes a1 b1          creates nodes, of the zones zone-a and zone-b
//	lose a1              deletes a node, and its pods
//	web 2                creates the StatefulSet web, or scales it; "web gone" deletes it
//	workload PATH        creates the workload web at a path, with the spec that follows
//	patch                changes the StatefulSet by the merge patch that follows
//	annotate KEY VALUE   annotates it, with keys of kruise.io
//	required KEY [of=apps/v1/StatefulSet/db]
//	                     creates the PersistentPodState web, with that required key, of the StatefulSet web or another workload
//	spec                 shows what a PersistentPodState asks for, and of which workload it is
//	create web-0         creates a pod of the workload, as it does with a placement
//	run a1 web-0 web-1   creates pods of it that run on a node
//	schedule             has pods that wait run on nodes that fit, if there are any
//	bind web-0 a1        has a pod run on a node
//	unready web-0        has it not be ready
//	delete web-0 web-1   deletes pods
//	stop, start          stops the controller, and starts another one; "start bare" has it read no kinds of the white list
//	wait 30s             lets time pass
//	quiet 1h             does so, and tells how many reconciles there were
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		inCluster(t, func(t *testing.T, c *cluster) {
			w := &world{cluster: c, path: webPath, trace: fixture.NewTrace(c.Cluster, func(fakecluster.Request) bool { return true })}
			w.reconciles, w.stop = c.start()
			defer func() { w.stop() }()
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string { return w.run(t, d) })
		})
	})
}

// world is a cluster in which everything is noted.
type world struct {
	*cluster
	trace  *fixture.Trace
	path   string // of the workload
	made   bool
	events int // that were shown
	// Of the controller.
	reconciles *fixture.Reconciles
	stop       func()
}

// run does what a line of a script says, and shows what came of it.
func (w *world) run(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	var args []string
	for _, a := range d.CmdArgs {
		args = append(args, a.Key)
	}
	w.do(t, d, args)
	if d.Cmd != "wait" && d.Cmd != "quiet" {
		w.Sleep("1s")
	}
	all := w.Events.About()
	for _, about := range all[w.events:] {
		if about.Kind != kind {
			w.trace.Note("event about " + about.Kind + " " + about.Name)
		}
	}
	w.events = len(all)
	lines := w.trace.Take()
	for _, pod := range w.Pods() {
		if pod.Spec.NodeName == "" {
			lines = append(lines, pod.Name+" waits")
		}
	}
	return strings.Join(append(lines, w.show("web")), "\n") + "\n"
}

func (w *world) do(t *testing.T, d *datadriven.TestData, args []string) {
	t.Helper()
	switch d.Cmd {
	case "nodes":
		w.nodes(args...)
	case "lose":
		w.loseNode(args[0])
	case "web":
		if args[0] == "gone" {
			w.made = false
			w.remove(webPath, "web")
			return
		}
		if w.made {
			w.edit(webPath, "web", fmt.Sprintf(`{"spec":{"replicas":%s}}`, args[0]))
			return
		}
		w.made = true
		w.workload(webPath, "web", `{"replicas":`+args[0]+`,"selector":{},"serviceName":"","template":{"spec":{"containers":[]}}}`, "")
	case "patch":
		w.edit(webPath, "web", d.Input)
	case "annotate":
		w.edit(webPath, "web", fmt.Sprintf(`{"metadata":{"annotations":{"kruise.io/%s":%q}}}`, args[0], args[1]))
	case "workload":
		w.path = args[0]
		w.workload(w.path, "web", d.Input, "")
	case "required":
		w.createState(newState("web", requires(args[0]), targetOf(t, d)))
	case "create":
		p := w.create(args[0], w.owner(w.path, "web"))
		w.trace.Note(fmt.Sprintf("%s is placed by %v%s", args[0], p.Required, strings.TrimSuffix(": "+p.Reason, ": ")))
	case "spec":
		state := w.state("web")
		spec, err := json.Marshal(state.Spec)
		w.Must(err)
		w.trace.Note(fmt.Sprintf("%s, controlled by the workload: %t", spec, metav1.IsControlledBy(state, &metav1.ObjectMeta{UID: w.owner(webPath, "web").UID})))
	case "run":
		for _, name := range args[1:] {
			w.create(name, w.owner(w.path, "web"))
			w.bind(name, args[0])
		}
	case "schedule":
		w.schedule()
	case "bind":
		w.bind(args[0], args[1])
	case "unready":
		w.PatchPod(args[0], `{"status":{"conditions":[{"type":"Ready","status":"False"}]}}`, "status")
	case "stop":
		w.stop()
		w.stop = func() {}
	case "start":
		w.reconciles, w.stop = w.start(func(o *Options) {
			if len(args) > 0 {
				o.Custom = nil
			}
		})
	case "quiet":
		before := w.reconciles.Count()
		w.Sleep(args[0])
		w.trace.Note(fmt.Sprint(w.reconciles.Count()-before, " reconciles"))
	case "delete":
		for _, name := range args {
			w.removePod(name)
		}
	case "wait":
		w.Sleep(args[0])
	default:
		d.Fatalf(t, "no such line: %s", d.Cmd)
	}
}

// targetOf says of which workload a PersistentPodState is.
func targetOf(t *testing.T, d *datadriven.TestData) func(*v1alpha1.PersistentPodState) {
	of := "apps/v1/StatefulSet/web"
	if d.HasArg("of") {
		d.ScanArgs(t, "of", &of)
	}
	parts := strings.Split(of, "/")
	return targeting(parts[0]+"/"+parts[1], parts[2], parts[3])
}

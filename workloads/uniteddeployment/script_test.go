// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/patches"
)

// TestScripts plays what happens to the UnitedDeployment web, each file in a cluster of its own.
// Shown are the writes of the controller and its events; what is generated in names is X. To accept a change of
// behaviour, run the test with -rewrite and read the difference.
//
//	create Kind                 creates it with workloads of a kind, with the lines of the spec that follow
//	edit [status]               changes it by the merge patch that follows
//	image nginx:2               changes the image of its template
//	edit-workload a [status]    changes the workload of a subset by the merge patch that follows
//	taken-name, taken-revision label
//	                            an object that others own, or that has no owner, has the name of the first workload, or of the first revision
//	meanwhile a                 an app becomes an owner of the workload of a subset before the controller patches it
//	delete                      deletes it, and orphans what it has if the word orphan follows
//	delete-workload a           deletes the workload of a subset
//	sleep 1h                    lets time go by
//	work [5]                    lets the controllers of the workloads do what they do, so many times
//	stop, start                 the controller; feature name… starts it with features on, or off if they are on
//	fail create clonesets with=quota|lost|ending
//	                            has the API server refuse requests, or lose the answer
//	hold, release what          keeps events about a resource from the controller
//	heal                        has it answer again
//	workloads, status, metrics, owners a
//	                            show them; sent shows how often the controller has sent what, since the last time
//
// The steps of TestZones are commands too.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		play(t, func(w *cluster) {
			datadriven.RunTest(w.T, path, func(t *testing.T, d *datadriven.TestData) string {
				if !w.command(d) {
					d.Fatalf(t, "no command %s", d.Cmd)
				}
				w.Sleep("1s") // until the controller has done what it does about it
				var lines []string
				for _, line := range w.trace.Take() {
					lines = append(lines, generated.ReplaceAllString(line, "web-$1-X"))
				}
				if slices.Sort(lines); len(lines) == 0 { // what is done at once has no order
					return "nothing"
				}
				return strings.Join(slices.Compact(lines), "\n")
			})
		})
	})
}

var generated = regexp.MustCompile(`web-([a-z]+)-[a-z0-9]{5}\b`)

// play plays a scenario in a cluster of its own.
func play(t *testing.T, scenario func(*cluster)) {
	w := &cluster{room: map[string]int{}, slow: map[string]bool{}}
	fixture.Play(t, setResource, func(c *fixture.Cluster) { w.Cluster = c }, func(t *testing.T) {
		w.T, w.Kubelet.Schedule = t, w.schedule
		// Which pods are marked for a moment depends on what the controller sees first: zones shows those that stay so.
		w.trace = fixture.NewTrace(w.Cluster, func(r fakecluster.Request) bool { return r.String() != "patch pods" })
		w.start()
		w.Sleep("1s")
		scenario(w)
		w.stop()
	}, slices.Collect(maps.Values(resources))...)
}

// cluster is a cluster with a UnitedDeployment and its controller.
type cluster struct {
	*fixture.Cluster
	trace    *fixture.Trace
	stop     func()
	kind     TemplateKind
	features Features
	states   []SubsetState
	room     map[string]int // for how many pods nodes of a subset have room, if that is not for all
	slow     map[string]bool
}

// Subsets is SubsetMetrics.
func (w *cluster) Subsets(_ types.NamespacedName, states []SubsetState) {
	w.states = states
}

func (w *cluster) start() {
	w.T.Helper()
	w.stop = fixture.StartNew(w.Cluster, New, Options{Kubernetes: w.Client(fixture.ControllerUser),
		Workloads: newClient(w.T, w.Server, fixture.ControllerUser), ControllerOptions: podwright.ControllerOptions{Recorders: w.Events.Of},
		SubsetMetrics: w, Features: w.features})
}

// command does what a line of a script says, and tells whether there is such a command.
func (w *cluster) command(d *datadriven.TestData) bool {
	w.T.Helper()
	var words []string
	named := map[string]string{}
	for _, argument := range d.CmdArgs {
		if words = append(words, argument.Key); argument.Vals != nil {
			words, named[argument.Key] = words[:len(words)-1], argument.Vals[0]
		}
	}
	what := strings.Join(words, " ")
	switch d.Cmd {
	case "create":
		w.kind = TemplateKind(what)
		w.Create(newSetOf(w.T, w.kind, d.Input), "")
	case "edit":
		w.Edit(string(toJSON(w.T, d.Input)), words...)
	case "image":
		w.Edit(string(toJSON(w.T, "spec: {"+strings.Replace(templateYAML(w.kind, ""), "nginx:1.21", what, 1)+"}")))
	case "edit-workload":
		w.each(words[0], func(c *common) {
			w.Object("patch", pathOf(w.kind, append([]string{c.Name}, words[1:]...)...), string(toJSON(w.T, d.Input)))
		})
	case "taken-name", "taken-revision":
		w.taken(d.Cmd, what)
	case "meanwhile":
		w.each(what, w.meanwhile)
	case "owners":
		w.each(what, func(c *common) {
			for _, owner := range c.OwnerReferences {
				w.trace.Note(fmt.Sprintf("owned by %s %s", owner.Kind, owner.Name))
			}
		})
	case "delete":
		if what != "orphan" {
			w.Delete()
			break
		}
		w.Orphan()
		for _, c := range workloadsOf(w.Cluster, w.kind) {
			w.Object("patch", pathOf(w.kind, c.Name), `{"metadata":{"ownerReferences":null}}`)
		}
	case "delete-workload":
		w.each(what, func(c *common) { w.Object("delete", pathOf(w.kind, c.Name), "") })
	case "sleep":
		w.Sleep(what)
	case "work":
		w.work(patches.Number(w.T, cmp.Or(what, "1")))
	case "stop":
		w.stop()
	case "start":
		w.start()
	case "feature":
		w.stop()
		for _, word := range words {
			feature := reflect.ValueOf(&w.features).Elem().FieldByName(word)
			feature.SetBool(!feature.Bool())
		}
		w.start()
	case "fail":
		w.trace.Fail(words, named["with"], "")
	case "heal":
		w.trace.Heal()
		w.Sleep("5m") // back-offs end
	case "hold":
		w.Hold(what)
	case "release":
		w.Release(what)
	default:
		return w.shows(d.Cmd) || w.adapt(d.Cmd, words, d.Input)
	}
	return true
}

// shows plays a command that shows something.
func (w *cluster) shows(command string) bool {
	switch command {
	case "workloads":
		for _, c := range workloadsOf(w.Cluster, w.kind) {
			partition := string(c.Spec.UpdateStrategy.Partition) + string(c.Spec.UpdateStrategy.RollingUpdate.Partition)
			w.trace.Note(fmt.Sprintf("%s: %s, %d pods of %s, partition %s, owners %d",
				c.subset(), c.Name, c.Spec.Replicas, c.image(), partition, len(c.OwnerReferences)))
		}
	case "status":
		set := setOf(w.Cluster, "web")
		for i := range set.Status.Conditions {
			set.Status.Conditions[i].LastTransitionTime = metav1.Time{}
		}
		text, err := yaml.Marshal(set.Status)
		w.Must(err)
		w.trace.Note(strings.TrimSpace(strings.ReplaceAll(string(text), "- lastTransitionTime: null\n  ", "- ")))
	case "sent":
		for _, request := range w.Sent() {
			w.trace.Note(request)
		}
		w.ForgetRequests()
	case "metrics":
		w.trace.Note(fmt.Sprint(w.states))
	default:
		return false
	}
	return true
}

// work has the controllers of the workloads, the scheduler and the kubelets work so many times.
func (w *cluster) work(times int) {
	for range times {
		work(w.Cluster, w.kind)
		w.kubelets()
		w.Sleep("1s")
	}
}

// each does something with the workloads of a subset.
func (w *cluster) each(subset string, do func(*common)) {
	found := false
	for _, c := range workloadsOf(w.Cluster, w.kind) {
		if c.subset() == subset {
			do(&c)
			found = true
		}
	}
	if !found {
		w.T.Fatalf("the subset %s has no workload", subset)
	}
}

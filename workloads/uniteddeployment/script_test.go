// SPDX-License-Identifier: Apache-2.0

package uniteddeployment_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/datadriven"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/workloads/uniteddeployment"
)

// TestScripts plays what happens to the UnitedDeployment web, each file in a cluster of its own.
// Shown are the writes of the controller and its events; what is generated in names is X. To accept a change of
// behaviour, run the test with -rewrite and read the difference.
//
//	create Kind                 creates it with workloads of a kind, with the lines of the spec that follow
//	edit                        changes it by the merge patch that follows
//	image nginx:2               changes the image of its template
//	edit-workload a             changes the workload of a subset by the merge patch that follows
//	orphan a                    takes the owner from the workload of a subset
//	taken-name, taken-revision label
//	                            an object that others own, or that has no owner, has the name of the first workload, or of the first revision
//	meanwhile a                 an app becomes an owner of the workload of a subset before the controller patches it
//	delete                      deletes it, and orphans what it has if the word orphan follows
//	delete-workload a           deletes the workload of a subset
//	sleep 1h                    lets time go by
//	work [5]                    lets the controllers of the workloads do what they do, so many times
//	stop, start                 the controller; adaptive starts it with AdaptiveScheduling
//	room a 2                    lets a subset have no more than so many pods on its nodes
//	evict a 2                   deletes all but so many of its pods that have nodes, and lets it have no more
//	wait 1m                     lets time go by, while the controllers of the workloads work once a second
//	refuse, break, lose what…   has the API server refuse requests, such as "create clonesets"; not
//	                            answer before or after they were made
//	hold, release what          keeps events about a resource from the controller
//	end-namespace               begins its deletion
//	heal                        has it answer again
//	workloads, status, metrics, owners a
//	                            show them
//	zones                       shows of each subset how many pods it has, ready of those that it is to have
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		play(t, func(t *testing.T, w *world) {
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string { return w.run(t, d) })
		})
	})
}

// play plays a scenario in a cluster of its own.
func play(t *testing.T, scenario func(*testing.T, *world)) {
	w := &world{}
	var more []fakecluster.Resource
	for _, r := range resources {
		more = append(more, r)
	}
	fixture.Play(t, setResource, func(c *fixture.Cluster) { w.Cluster = c }, func(t *testing.T) {
		w.T = t
		w.start()
		w.Sleep("1s")
		scenario(t, w)
		w.stop()
	}, more...)
}

// world is a cluster with a UnitedDeployment and its controller.
type world struct {
	*fixture.Cluster
	stop func()
	room map[string]int
	// adaptive is Options.AdaptiveScheduling.
	adaptive bool
	kind     uniteddeployment.TemplateKind

	lock   sync.Mutex
	trace  []string
	states map[types.NamespacedName][]uniteddeployment.SubsetState
}

// Subsets is uniteddeployment.SubsetMetrics.
func (w *world) Subsets(of types.NamespacedName, states []uniteddeployment.SubsetState) {
	w.lock.Lock()
	defer w.lock.Unlock()
	if w.states == nil {
		w.states = map[types.NamespacedName][]uniteddeployment.SubsetState{}
	}
	w.states[of] = states
}

func (w *world) start() {
	w.T.Helper()
	controller, err := uniteddeployment.New(uniteddeployment.Options{Kubernetes: w.Client(fixture.ControllerUser),
		Workloads: newClient(w.T, w.Server, fixture.ControllerUser), ControllerOptions: podwright.ControllerOptions{Recorders: func(string) record.EventRecorder { return &recorder{Recorder: &w.Events, world: w} }}, SubsetMetrics: w, Features: uniteddeployment.Features{AdaptiveScheduling: w.adaptive}})
	w.Must(err)
	w.heal()
	w.stop = w.Start(func(ctx context.Context) error { return controller.Run(ctx) })
}

// recorder shows events when they happen.
type recorder struct {
	*fixture.Recorder
	world *world
}

func (r *recorder) Eventf(object runtime.Object, kind, reason, format string, args ...any) {
	r.world.note("%s %s: %s", kind, reason, fmt.Sprintf(format, args...))
	r.Recorder.Eventf(object, kind, reason, format, args...)
}

var generated = regexp.MustCompile(`web-([a-z]+)-[a-z0-9]{5}\b`)

// note adds a line to the trace.
func (w *world) note(format string, args ...any) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.trace = append(w.trace, generated.ReplaceAllString(fmt.Sprintf(format, args...), "web-$1-X"))
}

func (w *world) heal() {
	w.FailBefore(nil)
	w.FailAfter(w.made)
}

// made notes a write of the controller that was made. Which pods are marked for a moment depends on
// what it sees first: zones shows those that stay so.
func (w *world) made(r fakecluster.Request) error {
	if r.String() == "patch pods" {
		return nil
	}
	if r.User == fixture.ControllerUser && !slices.Contains([]string{"get", "list", "watch"}, r.Verb) {
		w.note("%s %s", r.String(), fixture.NameIn(r))
	}
	return nil
}

func (w *world) run(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	if err := w.command(d); err != nil {
		w.note("error: %v", err)
	}
	w.Sleep("1s") // until the controller has done what it does about it
	w.lock.Lock()
	defer w.lock.Unlock()
	slices.Sort(w.trace) // what is done at once has no order
	out := strings.Join(slices.Compact(w.trace), "\n")
	w.trace = nil
	if out == "" {
		return "nothing"
	}
	return out
}

func (w *world) command(d *datadriven.TestData) error {
	sets := newClient(w.T, w.Server, fixture.TestUser).UnitedDeployments(fixture.Web.Namespace)
	var words []string
	for _, argument := range d.CmdArgs {
		words = append(words, argument.String())
	}
	what := strings.Join(words, " ")
	switch d.Cmd {
	case "create":
		w.kind = uniteddeployment.TemplateKind(what)
		_, err := sets.Create(w.T.Context(), newSet(w.T, w.kind, "web", d.Input), metav1.CreateOptions{})
		return err
	case "edit", "image":
		data := d.Input
		if d.Cmd == "image" {
			template, err := json.Marshal(newSet(w.T, w.kind, "web", "").Spec.Template)
			w.Must(err)
			data = `{"spec":{"template":` + strings.ReplaceAll(string(template), "nginx:1", what) + `}}`
		}
		_, err := sets.Patch(w.T.Context(), "web", types.MergePatchType, []byte(data), metav1.PatchOptions{})
		return err
	case "edit-workload":
		return w.each(what, func(c *workload) { patch(w.Cluster, w.kind, c.Name, d.Input) })
	case "orphan":
		return w.each(what, func(c *workload) { patch(w.Cluster, w.kind, c.Name, `{"metadata":{"ownerReferences":null}}`) })
	case "taken-name", "taken-revision", "meanwhile":
		return w.others(d.Cmd, what)
	case "owners":
		return w.each(what, func(c *workload) {
			for _, owner := range c.OwnerReferences {
				w.note("owned by %s %s", owner.Kind, owner.Name)
			}
		})
	case "delete":
		if what == "orphan" {
			w.Orphan()
			for _, c := range workloadsOf(w.Cluster, w.kind) {
				patch(w.Cluster, w.kind, c.Name, `{"metadata":{"ownerReferences":null}}`)
			}
			return nil
		}
		return sets.Delete(w.T.Context(), "web", metav1.DeleteOptions{})
	case "delete-workload":
		return w.each(what, func(c *workload) {
			w.Must(w.Kube.CoreV1().RESTClient().Delete().AbsPath(path(w.kind, c.Name)...).Do(w.T.Context()).Error())
		})
	case "sleep":
		w.Sleep(what)
	case "work":
		w.work(max(1, number(what)))
	case "stop":
		w.stop()
	case "start":
		w.start()
	case "adaptive", "wait", "room", "evict", "zones":
		return w.adapt(d.Cmd, words)
	case "refuse":
		w.FailBefore(fixture.Fail(what, fixture.ErrQuota))
	case "break":
		w.FailBefore(fixture.Fail(what, fixture.ErrLost))
	case "lose":
		lost := fixture.Fail(what, fixture.ErrLost)
		w.FailAfter(func(r fakecluster.Request) error { _ = w.made(r); return lost(r) })
	case "end-namespace":
		w.FailBefore(fixture.Fail("create clonesets", &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: 403, Reason: metav1.StatusReasonForbidden,
			Message: "default is being terminated", Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}}}}))
	case "heal":
		w.heal()
		w.Sleep("5m") // back-offs end
	case "hold":
		w.Hold(what)
	case "release":
		w.Release(what)
	case "workloads":
		for _, c := range workloadsOf(w.Cluster, w.kind) {
			partition := string(c.Spec.UpdateStrategy.Partition) + string(c.Spec.UpdateStrategy.RollingUpdate.Partition)
			w.note("%s: %s, %d pods of %s, partition %s, owners %d", c.subset(), c.Name, c.Spec.Replicas, c.image(), partition, len(c.OwnerReferences))
		}
	case "status":
		return w.status()
	case "metrics":
		w.note("%v", w.states[fixture.Web])
	default:
		return fmt.Errorf("no command %s", d.Cmd)
	}
	return nil
}

// work has the controllers of the workloads, the scheduler and the kubelets work so many times.
func (w *world) work(times int) {
	for range times {
		work(w.Cluster, w.kind)
		w.Sleep("1s")
	}
}

func number(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

// each does something with the workloads of a subset.
func (w *world) each(subset string, do func(*workload)) error {
	found := false
	for _, c := range workloadsOf(w.Cluster, w.kind) {
		if c.subset() == subset {
			do(&c)
			found = true
		}
	}
	if !found {
		return fmt.Errorf("the subset %s has no workload", subset)
	}
	return nil
}

func (w *world) status() error {
	set, err := newClient(w.T, w.Server, fixture.TestUser).UnitedDeployments(fixture.Web.Namespace).Get(w.T.Context(), "web", metav1.GetOptions{})
	if err != nil {
		return err
	}
	for i := range set.Status.Conditions {
		set.Status.Conditions[i].LastTransitionTime = metav1.Time{}
	}
	text, err := yaml.Marshal(set.Status)
	if err != nil {
		return err
	}
	var lines []string
	for line := range strings.Lines(strings.ReplaceAll(string(text), "- lastTransitionTime: null\n  ", "- ")) {
		lines = append(lines, strings.TrimRight(line, "\n"))
	}
	w.note("%s", strings.Join(lines, "\n"))
	return nil
}

// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/distribution/spread"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/patches"
)

// TestScripts plays the scenarios of testdata/scripts, each in a cluster of its own, with a controller. Shown are its writes,
// events, and then the WorkloadSpread web, its pods and what holds it up. To accept a change of behaviour, run the test with -rewrite and
// read the difference.
//
//	spread [name]        creates a WorkloadSpread of the Deployment web, with the spec in the lines that follow
//	edit [PATH]          merges the JSON that follows into it, or into an object such as apps/v1/deployments/web
//	remove [PATH]        deletes it, or another object
//	deployment 5         creates the Deployment web
//	scale 3              scales it
//	replicaset 1 5       creates its ReplicaSet web-1 for 5 pods; the one with the highest number is the latest
//	workload apps.kruise.io/v1alpha1/clonesets
//	                     creates another workload, of the JSON that follows, which owns the pods of number 0
//	in s 1 a b           creates pods of web-1 in the subset s, which no node has
//	node [zone]          creates the node of all pods
//	plain 1 a b          creates pods of web-1 without a webhook, on a node
//	run a b              has pods be ready
//	stuck a b            has the scheduler find no node for pods
//	patch a              changes the status of a pod by the JSON that follows
//	delete a b [in=1s]   deletes pods, now or while the next line is played
//	place 1 [new dry …]  asks a webhook about pods of web-1, and shows their subset, and how long that took; they are not created. In place of
//	                     1 stands another controller that is not known, such as apps/v1/ReplicaSet/web-2. Not of new pods are the words
//	                     dry (it is a dry run), update, elsewhere (in another namespace), alone (it has no controller) and ended (the pod has)
//	webhook [placed-by-workloads] [finds=(Rollout,Stage)]
//	                     starts a webhook, for which workloads may place their pods themselves, or which finds kinds of the white list by itself. From
//	                     then on is shown about which pods it is asked, if that changes
//	create 1 a b         asks it about pods of web-1, shows their subsets, and creates them
//	own 1 a              asks as a workload does that places its pods itself; the pod is not created
//	rollout              creates the Rollout web, whose spec follows, and a Stage and a ReplicaSet 1 below it
//	also                 shows the WorkloadSpread also
//	stop                 stops the controller
//	without workloads    starts the controller anew, which reads no CloneSets
//	fail patch pods [name] with=internal [times=1], heal
//	                     has the API server refuse requests of the controller, until it answers again
//	meanwhile PATH       merges the JSON that follows into an object while the next write of a status is under way, or deletes the object
//	hold pods            has caches not show what happens to a resource, until release
//	watches              shows what is watched since this was asked
//	remembered           shows how many pods the webhook remembers
//	heartbeats           has kubelets report for a while, and tells how many reconciles that takes
//	wait 20s             lets time pass
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		withRollouts(t, func(t *testing.T, c *cluster) {
			w := &world{cluster: c, sets: map[string]metav1.OwnerReference{}}
			w.trace = fixture.NewTrace(c.Cluster, func(r fakecluster.Request) bool { return r.Name != "also" })
			w.reconciles, w.stop = c.start()
			defer func() { w.stop() }()
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
				w.run(t, d)
				return w.shown()
			})
		})
	})
}

// world is a cluster whose writes are noted.
type world struct {
	*cluster
	sets       map[string]metav1.OwnerReference
	trace      *fixture.Trace
	reconciles *fixture.Reconciles
	stop       func()
	webhook    *Placer // nil until a pod is placed
	asks       bool    // the webhook has noticed that it is asked about others
}

func (w *world) run(t *testing.T, d *datadriven.TestData) {
	t.Helper()
	var words []string
	named := map[string]string{}
	for _, argument := range d.CmdArgs {
		if len(argument.Vals) > 0 {
			named[argument.Key] = argument.Vals[0]
		} else {
			words = append(words, argument.Key)
		}
	}
	number := func(i int) int { return patches.Number(t, words[i]) }
	switch d.Cmd {
	case "spread":
		w.createSpread(append(words, "web")[0], d.Input, "web")
	case "edit", "remove":
		w.change(strings.Join(words, ""), d.Input)
	case "meanwhile":
		patch := d.Input
		w.trace.Meanwhile("patch workloadspreads/status", false, 1, func() {
			w.change(words[0], patch)
			w.Sleep("1s")
		})
	case "deployment":
		w.deployment("web", number(0))
	case "scale":
		w.scale("web", number(0))
	case "replicaset":
		w.sets[words[0]] = w.replicaSet("web", number(0), number(1))
	case "workload":
		w.sets["0"] = owns(w.Object("create", words[0], d.Input))
	case "node":
		w.AddNodes(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1", Labels: map[string]string{"zone": strings.Join(words, "")}}})
	case "patch":
		w.PatchPod(words[0], d.Input, "status")
	case "webhook":
		w.startWebhook(slices.Contains(words, "placed-by-workloads"), d)
	case "hold":
		w.Hold(words[0])
	case "release":
		w.Release(words[0])
	case "watches":
		w.trace.Note(slices.Sorted(maps.Keys(w.Count(fixture.ControllerUser)))...)
		w.ForgetRequests()
	case "remembered":
		w.trace.Note(fmt.Sprint(len(w.webhook.reserved.all)))
	case "heartbeats":
		before := w.reconciles.Count()
		w.Heartbeats()
		w.trace.Note(fmt.Sprint(w.reconciles.Count()-before, " reconciles"))
	case "place", "create", "own":
		owner, known := w.sets[words[0]]
		if parts := strings.Split(words[0], "/"); !known {
			owner = metav1.OwnerReference{APIVersion: parts[0] + "/" + parts[1], Kind: parts[2], Name: parts[3], UID: "unknown", Controller: new(true)}
		}
		w.place(d.Cmd, owner, words[1:])
	case "rollout":
		w.sets["1"] = w.rollout(d.Input)
	case "also":
		w.trace.Note(describe(&w.spread("also").Status), strings.Join(w.heldUp("also"), "\n"))
	case "stop", "without":
		w.stop()
		if w.stop = func() {}; d.Cmd == "without" {
			_, w.stop = w.start(func(o *Options) { o.Workloads = nil })
		}
	case "fail":
		w.trace.Fail(words, named["with"], named["times"])
	case "heal":
		w.trace.Heal()
	case "wait":
		w.Sleep(words[0])
	default:
		w.pods(d, words)
	}
}

// place asks a webhook about new pods.
func (w *world) place(how string, owner metav1.OwnerReference, names []string) {
	if w.webhook == nil {
		w.webhook = w.placer()
	}
	switch how {
	case "place":
		for _, how := range append(names, "new")[:max(len(names), 1)] {
			w.ask(owner, how)
		}
	case "own":
		pod, began := newPod(names[0], "", owner), time.Now()
		placed, err := w.webhook.PlacePod(w.T.Context(), pod)
		w.Must(err)
		if matched, _ := spread.Matched(pod); matched.Subset != "" || time.Since(began) > 0 { // WS-25
			w.T.Errorf("the pod that was given is changed, or that took %s", time.Since(began))
		}
		matched, _ := spread.Matched(placed)
		w.trace.Note(fmt.Sprintf("%s goes to subset %q", names[0], matched.Subset))
	case "create":
		for _, name := range names {
			pod := generated(owner)
			w.trace.Note(fmt.Sprintf("%s goes to subset %q", name, w.admit(w.webhook, pod)))
			w.Sleep("100ms") // what is written meanwhile is seen
			pod.Name, pod.Namespace = name, "default"
			w.CreatePod(pod)
			w.Sleep("100ms")
		}
	}
}

// ask asks a webhook about a new pod.
func (w *world) ask(owner metav1.OwnerReference, how string) {
	pod, request := generated(owner), &admissionv1.AdmissionRequest{Operation: admissionv1.Create, Namespace: "default"}
	switch how {
	case "dry":
		request.DryRun = new(true)
	case "update":
		request.Operation = admissionv1.Update
	case "elsewhere":
		request.Namespace = "elsewhere"
	case "alone":
		pod.OwnerReferences = nil
	case "ended":
		pod.Status.Phase = corev1.PodFailed
	}
	began, before, said := time.Now(), pod.DeepCopy(), "refused: "
	if err := w.webhook.Mutate(w.T.Context(), request, pod); err != nil {
		said += decoding.ReplaceAllString(err.Error(), "$1")
	} else {
		matched, placed := spread.Matched(pod)
		if said = fmt.Sprintf("goes to subset %q", matched.Subset); !placed && !reflect.DeepEqual(before, pod) {
			said += ", and is changed"
		}
	}
	if took := time.Since(began); took > 0 {
		said += fmt.Sprint(", after ", took)
	}
	w.trace.Note(said)
}

// decoding is what libraries say of bytes that they cannot decode, which is not shown.
var decoding = regexp.MustCompile(`(pod is none): .*`)

// startWebhook starts a webhook in place of the one that a pod that is placed starts.
func (w *world) startWebhook(placedByWorkloads bool, d *datadriven.TestData) {
	o := w.options
	if o.PlacedByWorkloads = placedByWorkloads; d.HasArg("finds") {
		o.Custom, o.ConfigNamespace = nil, "kruise-system"
	}
	p, err := NewPlacer(o)
	w.Must(err)
	for _, arg := range d.CmdArgs {
		if arg.Key == "finds" {
			found := slices.DeleteFunc(slices.Clone(w.options.Custom), func(k CustomKind) bool { return !slices.Contains(arg.Vals, k.Kind.Kind) })
			p.findCustom = func(context.Context, *Options) ([]CustomKind, error) { return found, nil }
		}
	}
	w.Must(p.OnMatchChange(func() { w.asks = true }))
	w.webhook, w.asks = p, true
	w.T.Cleanup(w.Start(p.Run))
}

// pods plays a command about pods.
func (w *world) pods(d *datadriven.TestData, words []string) {
	for i, name := range words {
		switch {
		case d.Cmd == "in" && i > 1:
			w.CreatePod(newPod(name, words[0], w.sets[words[1]]))
		case d.Cmd == "plain" && i > 0:
			w.pod(name, "", w.sets[words[0]])
		case d.Cmd == "run":
			w.cluster.run(name)
		case d.Cmd == "stuck":
			w.stuck(name)
		case d.Cmd == "delete" && d.HasArg("in"):
			later := ""
			d.ScanArgs(w.T, "in", &later)
			time.AfterFunc(patches.Duration(w.T, later), func() { w.RemovePod(name) })
		case d.Cmd == "delete":
			w.RemovePod(name)
		case i > 1:
			d.Fatalf(w.T, "no command %s", d.Cmd)
		}
	}
}

// shown shows what has come of a command within a second.
func (w *world) shown() string {
	w.Sleep("1s")
	out := w.trace.Take()
	if w.asks {
		w.asks = false
		about, err := w.webhook.MatchExpression(w.T.Context())
		w.Must(err)
		out = append(out, "asked about "+about)
	}
	if list, err := w.spreads.WorkloadSpreads("default").List(w.T.Context(), metav1.ListOptions{}); err == nil && slices.ContainsFunc(list.Items, func(ws v1alpha1.WorkloadSpread) bool { return ws.Name == "web" }) {
		out = append(out, w.show("web"))
		out = append(out, w.heldUp("web")...)
	}
	return strings.Join(out, "\n")
}

// heldUp shows what holds a WorkloadSpread up, and since when that is said.
func (c *cluster) heldUp(name string) (lines []string) {
	c.T.Helper()
	for _, s := range c.spread(name).Status.SubsetStatuses {
		for _, condition := range s.Conditions {
			if condition.Type == v1alpha1.SubsetHeldUp {
				lines = append(lines, fmt.Sprintf("%s held up since %s: %s: %s", s.Name, condition.LastTransitionTime.UTC().Format(time.TimeOnly), condition.Reason, condition.Message))
			}
		}
	}
	return lines
}

// SPDX-License-Identifier: Apache-2.0

package persistentpodstate

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/distribution/podstate"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/lifecycle/readiness"
	workloadsclient "github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/statefulset"
)

// TestScripts plays the scenarios of testdata/scripts, each in a cluster of its own. Shown are how pods are placed, the writes
// of the controller, events, and then the PersistentPodState web. To accept a change of behaviour, run the
// test with -rewrite and read the difference.
//
//	nodes a1 b1          creates nodes, of the zones zone-a and zone-b
//	many 5000            creates that many pods of the StatefulSet, each ready on a node of its own with a long name
//	lose a1              deletes a node, and its pods
//	create PATH          creates an object, such as a workload or a PersistentPodState; patch and delete change one
//	spec                 shows what a PersistentPodState asks for, and of which workload it is
//	pod web-0            creates a pod of the workload, as it does with a placement
//	run a1 web-0 web-1   creates pods of it that run on a node
//	schedule             has pods that wait run on nodes that fit, if there are any
//	bind web-0 a1        has a pod run on a node
//	unready web-0        has it not be ready
//	remove web-0 web-1   deletes pods
//	webhook [own] [games] [restores] [placed-by-workloads]
//	                     starts a webhook, with the white list of the namespace own or of the kind of games, which gives annotations back, or for which
//	                     workloads place their pods themselves. From then on is shown about which pods it is asked, if that changes
//	place VERSION KIND   asks about the pod web-0 of a controller of that kind, changed by the JSON that follows. Shown is to which node it goes, by which
//	                     PersistentPodState: by the webhook, and as the workload creates it
//	stop, start          stops the controller, and starts another one; "start bare" has it read no kinds of the white list
//	sets                 starts the controller of Advanced StatefulSets, which places its pods by the webhook
//	kubelet 30s          has the kubelets and the scheduler work for so long, and shows what the controller has asked for, and where ready pods run
//	hold nodes           has caches not show what happens to a resource, until "release"
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
	trace   *fixture.Trace
	path    string // of the workload
	events  int    // that were shown
	webhook *Placer
	asks    bool // the webhook has noticed that it is asked about others
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
	if d.Cmd == "place" {
		slices.Sort(lines)
	}
	if w.asks {
		w.asks = false
		about, err := w.webhook.MatchExpression(t.Context())
		w.Must(err)
		lines = append(lines, "asked about "+about)
	}
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
	case "many":
		owner := w.owner(webPath, "web")
		for i := range patches.Number(w.T, args[0]) {
			w.runningPod(fmt.Sprint("web-", i), fmt.Sprintf("ip-10-0-255-%d.eu-central-1.compute.internal", i), owner)
		}
	case "lose":
		w.loseNode(args[0])
	case "create":
		if w.Object("create", args[0], d.Input).Kind != kind {
			w.path = args[0]
		}
	case "patch", "delete":
		w.Object(d.Cmd, strings.Join(args, ""), d.Input)
	case "webhook":
		w.startWebhook(args)
	case "sets":
		sets, err := statefulset.New(statefulset.Options{
			Kubernetes: w.Client("statefulset"), Workloads: connect(w.Cluster, "statefulset", workloadsclient.NewForConfig), Placement: w.webhook})
		w.Must(err)
		w.Kubelet.Schedule = w.fits
		w.T.Cleanup(w.Start(sets.Run))
	case "kubelet":
		w.kubelet(args[0])
	case "hold":
		w.Hold(args[0])
	case "release":
		w.Release(args[0])
	case "place":
		w.place(args, d.Input)
	case "pod":
		p := w.create(args[0], w.owner(w.path, "web"))
		w.trace.Note(fmt.Sprintf("%s is placed by %v%s", args[0], p.Required, strings.TrimSuffix(": "+p.Reason, ": ")))
	case "spec":
		state := w.state("web")
		w.trace.Note(fmt.Sprintf("%s, controlled by the workload: %t", patches.JSON(w.T, state.Spec), metav1.IsControlledBy(state, &metav1.ObjectMeta{UID: w.owner(webPath, "web").UID})))
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
	case "remove":
		for _, name := range args {
			w.RemovePod(name)
		}
	case "wait":
		w.Sleep(args[0])
	default:
		d.Fatalf(t, "no such line: %s", d.Cmd)
	}
}

// kubelet has the kubelets work for a while.
func (w *world) kubelet(period string) {
	w.ForgetRequests()
	for start, most := time.Now(), patches.Duration(w.T, period); time.Since(start) < most; w.Sleep("1s") {
		w.KubeletStep()
	}
	w.trace.Note(w.Sent()...)
	for _, pod := range w.Pods() {
		if readiness.Ready(&pod) && pod.DeletionTimestamp == nil {
			w.trace.Note(fmt.Sprintf("%s runs %s on %s", pod.Name, pod.Spec.Containers[0].Image, pod.Spec.NodeName))
		}
	}
}

// runningPod creates a node, and a pod that is ready on it.
func (w *world) runningPod(name, node string, owner metav1.OwnerReference) {
	w.AddNodes(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node, Labels: map[string]string{host: node}}})
	meta := metav1.ObjectMeta{Namespace: "default", Name: name, OwnerReferences: []metav1.OwnerReference{owner}}
	w.CreatePod(&corev1.Pod{ObjectMeta: meta, Spec: corev1.PodSpec{NodeName: node}})
	w.PatchPod(name, `{"status":{"conditions":[{"type":"Ready","status":"True"}]}}`, "status")
}

func (w *world) startWebhook(args []string) {
	has := func(word string) bool { return slices.Contains(args, word) }
	w.webhook = w.placer(nil, func(o *PlacerOptions) {
		if o.PlacedByWorkloads, o.RestoreAnnotations = has("placed-by-workloads"), has("restores"); has("own") {
			o.ConfigNamespace = "own"
		}
		if has("games") {
			o.Kinds = podstate.Whitelist{games}
		}
	})
	if has("own") {
		list := map[string]string{v1alpha1.PersistentPodStateWhitelistKey: `{"workloads":[{"Group":"game.kruise.io","Version":"v1alpha1","Kind":"GameServerSet"}]}`}
		_, err := w.Kube.CoreV1().ConfigMaps("own").Create(w.T.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: whitelistConfigMap}, Data: list}, metav1.CreateOptions{})
		w.Must(err)
	}
	w.Must(w.webhook.OnMatchChange(func() { w.asks = true }))
	w.asks = true
	w.T.Cleanup(w.Start(w.webhook.Run))
}

// place asks the webhook and the workload about a pod, which they do not change. One that was placed is not placed again. (PPS-11, PPS-16, PPS-27)
func (w *world) place(args []string, change string) {
	pod := webPod(func(pod *corev1.Pod) {
		pod.Spec.NodeName, pod.Annotations = "", nil
		pod.OwnerReferences[0].APIVersion, pod.OwnerReferences[0].Kind = args[0], args[1]
	})
	patches.Merge(w.T, pod, cmp.Or(change, "{}"))
	w.ForgetRequests()
	before, mutated := pod.DeepCopy(), pod.DeepCopy()
	placed, err := w.webhook.PlacePod(w.T.Context(), pod)
	w.Must(err)
	if mutated.Namespace == "default" {
		mutated.Namespace = "" // as pods come that are created in a namespace
	}
	w.Must(w.webhook.Mutate(w.T.Context(), createOf("default"), mutated))
	again, err := w.webhook.PlacePod(w.T.Context(), mutated)
	w.Must(err)
	if !reflect.DeepEqual(before, pod) || again != mutated && placedBy(mutated) != "" || len(w.Sent()) > 0 {
		w.T.Errorf("the given pod has changed, or is placed twice, or it took %v", w.Sent())
	}
	for how, got := range map[string]*corev1.Pod{"the webhook": mutated, "the workload": placed} {
		w.trace.Note(strings.TrimSpace(fmt.Sprintf("by %s: %q by %q %s", how, got.Spec.NodeSelector[host], placedBy(got), got.Annotations["ip"])))
	}
}

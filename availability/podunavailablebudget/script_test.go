// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/datadriven"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/patches"
)

// TestScripts plays the scenarios of testdata/scripts, each in a cluster of its own, with a controller and two replicas of the webhook.
// Shown are what the API server answers, the writes of both except to other budgets, and events. Then come the budget web, its
// PodDisruptionBudget and what holds it up.
// To accept a change of behaviour, run the test with -rewrite and read the difference.
//
//	budget 20% [name] [app=web] [of=apps/v1/Deployment/web] [least=2] [annotation=value]
//	                     creates a budget with that maxUnavailable: of the CloneSet web, of pods with a label, or of another workload
//	edit name patch      changes it
//	unbudget name        deletes it
//	cloneset 5           creates the CloneSet web
//	workload apps/v1 replicasets ReplicaSet web-1 3 [of=web]
//	                     creates another workload, which one before it may control; 3 are the pods that it wants, or else its spec
//	owner shop.io/v1 Machine web
//	                     has pods be of an owner that is no object; none has them have no owner
//	machines 3           has Machines want so many pods; unread, failing and gone have nothing tell that
//	scale 3 [path]       scales the CloneSet, or what is at a path
//	remove [path]        deletes it, and leaves its pods; a finalizer has the CloneSet stay
//	pods a b [of=web-1] [app=x] [names=web]
//	                     creates ready pods of the last owner, of another or none; with another label, or the name of a budget
//	patch a patch        changes a pod, or its status
//	unready a            has a pod be not ready
//	ready a              has it run what its spec says, and be ready
//	delete a, evict a    deletes or evicts a pod as a user does, if it may
//	update a nginx:2     updates its image in place, if it may
//	refused a, evict-refused a
//	                     asks about a deletion or an eviction that something else refuses afterwards
//	at-once delete a b c [replicas=1]
//	                     asks about pods all at once, the webhooks in turn, and shows how many are allowed, and how often it was tried to book that
//	ask OPERATION a      asks a webhook about an operation that does not happen, and shows what it reads for the answer: delete, delete-now,
//	                     evict, evict-dry, update, update-status, label, hold-out, update-and-unlink, resize or resize-restart. Further words:
//	                     dry=true, uid=own or another, as=user, webhook=other, no-deletions, no-updates, no-pods, unprotected (its cache has no
//	                     protected pods), told (it records events) or measured
//	                     cached (see there), whole (shows the whole answer); sub=, group=, object=, old= and options= change the request
//	cached [deletions] [updates] [no-pods]
//	                     makes a CachedWebhook; cached-runs, cached-stops: it runs. missing: the CRD is not there
//	shares               has it read the pods of the program; shared-runs, shared-stops: the program does
//	watches, keeps, matches
//	                     shows what it has begun to watch, which pods it keeps, and about which requests it is to be asked
//	feature resizes-alone, feature inconsistent-may-go, feature none
//	                     switches these on for the webhooks
//	told                 shows which budgets pods name
//	counted              shows how many reconciles and reads of Machines there were since it was asked before, and how many failed
//	annotation a key     shows an annotation of a pod
//	pdb web app, patch-pdb web patch, delete-pdb web
//	                     changes PodDisruptionBudgets
//	option mirror=true   starts the controller anew with another option
//	stop                 stops the controller
//	behind               has the webhooks know no later state of budgets than that of now
//	fail patch pods [name] with=internal [times=1], heal
//	                     has the API server refuse requests of the controller and the webhooks, until it answers again
//	meanwhile patch pods [after] [times=9] -- STEP
//	                     has a step happen while such a request is under way: before it is served, or after that
//	hide-budgets         shows no writes of budgets any more: how many they are depends on which of two budgets over a pod acts first
//	wait 20s             lets time pass
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		inCluster(t, func(t *testing.T, c *cluster) {
			w := newWorld(c)
			defer func() { w.end() }()
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
				words := []string{d.Cmd}
				for _, argument := range d.CmdArgs {
					words = append(words, argument.String())
				}
				w.trace.Note(w.step(words...))
				return w.shown()
			})
		})
	})
}

// world is a cluster with a controller and two replicas of the webhook, whose writes are noted.
type world struct {
	*cluster
	scales     *foreign
	owners     map[string]metav1.OwnerReference
	last       metav1.OwnerReference // owns the next pods
	webhooks   []*Webhook
	stop       func() // stops the controller, which has reconciled so often
	reconciles *fixture.Reconciles
	before     [3]int // what was counted before
	trace      *fixture.Trace
	hidden     atomic.Bool // writes of budgets
	caching    *caching
}

func newWorld(c *cluster) *world {
	w := &world{cluster: c, scales: &foreign{wants: map[string]int32{}}, owners: map[string]metav1.OwnerReference{}}
	w.start()
	w.webhooks = []*Webhook{c.webhook(), c.webhook()}
	w.trace = fixture.NewTrace(c.Cluster, func(r fakecluster.Request) bool {
		return r.Resource != budgetResource.Name || r.Name == "web" && !w.hidden.Load()
	})
	return w
}

// start starts the controller with changed options.
func (w *world) start(edits ...func(*Options)) {
	reconciles, stop := w.cluster.start(append([]func(*Options){func(o *Options) { o.Scales = w.scales }}, edits...)...)
	w.reconciles, w.stop = reconciles, sync.OnceFunc(stop)
}

// play plays steps without showing what they show.
func (w *world) play(steps ...string) {
	for _, step := range steps {
		w.step(strings.Fields(step)...)
	}
}

// step plays a step, and returns what it shows.
func (w *world) step(words ...string) string {
	var args []string
	named := map[string]string{}
	for _, word := range words[1:] {
		if key, value, is := strings.Cut(word, "="); is {
			named[key] = value
		} else {
			args = append(args, word)
		}
	}
	if i := slices.Index(words, "--"); words[0] == "meanwhile" {
		w.meanwhile(words[1:i], words[i+1:])
		return ""
	}
	if shown, is := w.cached(words); is {
		return shown
	}
	args = append(args, "", "")
	pods := w.Kube.CoreV1().Pods("default")
	switch first := args[0]; words[0] {
	case "pods":
		w.createPods(slices.DeleteFunc(args, func(name string) bool { return name == "" }), named)
	case "patch":
		var subresources []string
		if strings.HasPrefix(args[1], `{"status"`) {
			subresources = append(subresources, "status")
		}
		_, err := pods.Patch(w.T.Context(), first, types.MergePatchType, []byte(args[1]), metav1.PatchOptions{}, subresources...)
		w.Must(err)
	case "unready":
		w.PatchPod(first, unreadyPatch, "status")
	case "ready":
		w.ready(first)
	case "delete", "evict":
		if w.ask(words[0], first) {
			w.RemovePod(first)
		}
	case "refused":
		w.ask("delete", first)
	case "evict-refused":
		w.ask("evict", first)
	case "update":
		if w.ask("update", first) {
			w.PatchPod(first, `{"spec":{"containers":[{"name":"main","image":"`+args[1]+`"}]}}`)
			w.PatchPod(first, unreadyPatch, "status")
		}
	case "at-once":
		w.atOnce(first, slices.DeleteFunc(args[1:], func(name string) bool { return name == "" }), named["replicas"] == "1")
	case "ask":
		w.inquire(first, args[1], named)
	case "feature":
		w.feature(args)
	case "annotation":
		return w.livePod(first).Annotations[args[1]]
	case "told":
		var names []string
		for _, pod := range w.Pods() {
			names = append(names, fmt.Sprintf("%s of %q", pod.Name, relatedTo(&pod)))
		}
		return strings.Join(names, ", ")
	case "counted":
		return w.counted()
	case "stop":
		w.stop()
	case "option":
		w.stop()
		w.start(func(o *Options) { optionOf(o, named) })
	case "fail":
		w.trace.Fail(slices.DeleteFunc(args, func(word string) bool { return word == "" }), named["with"], named["times"])
	case "heal":
		w.trace.Heal()
	case "hide-budgets":
		w.hidden.Store(true)
	case "wait":
		w.Sleep(first)
	default:
		return w.standing(words[0], args, named)
	}
	return ""
}

func (w *world) counted() string {
	before := w.before
	w.before = [3]int{w.reconciles.Count(), w.scales.asked, len(w.reconciles.Errors())}
	return fmt.Sprintf("%d reconciles, %d reads, %d failures", w.before[0]-before[0], w.before[1]-before[1], w.before[2]-before[2])
}

func (w *world) meanwhile(request, step []string) {
	times := 1
	if text, is := strings.CutPrefix(request[len(request)-1], "times="); is {
		times = patches.Number(w.T, text)
	}
	w.trace.Meanwhile(strings.Join(request[:2], " "), slices.Contains(request, "after"), times, func() { w.step(step...) })
}

func optionOf(o *Options, named map[string]string) {
	o.Features.AnnotatedTotal = named["annotated-total"] != ""
	if named["workers"] != "" {
		o.Workers = 1
	}
	if named["scales"] == "none" {
		o.Scales = nil
	}
	if o.Mirror = MirrorNone; named["mirror"] == "true" {
		o.Mirror = MirrorAnnotated
	} else if named["mirror"] != "" {
		o.Mirror = MirrorRemove
	}
}

func (w *world) createPods(names []string, named map[string]string) {
	owner := w.last
	if named["of"] == "none" {
		owner = noOwner
	} else if named["of"] != "" {
		owner = w.owners[named["of"]]
	}
	var changes []string
	for _, word := range []string{"app", "names"} {
		if value, is := named[word]; is {
			changes = append(changes, word+"="+value)
		}
	}
	for _, name := range names {
		w.pod(name, owner, changes...)
	}
	synctest.Wait()
}

// ask asks a webhook about an operation, each time the other one.
func (w *world) ask(operation, name string) bool {
	slices.Reverse(w.webhooks)
	refusal := answer(w.webhooks[0].ValidatePod(w.T.Context(), w.request(operation, name)))
	if refusal == "" {
		refusal = "allowed"
	}
	w.trace.Note(refusal)
	return refusal == "allowed"
}

// atOnce asks about several pods at once, and shows how many are allowed. What is written for that comes in any order.
func (w *world) atOnce(operation string, names []string, one bool) {
	requests := make([]*admissionv1.AdmissionRequest, len(names))
	for i, name := range names {
		requests[i] = w.request(operation, name)
	}
	var all sync.WaitGroup
	var allowed, tried atomic.Int32
	w.trace.Meanwhile("patch podunavailablebudgets/status", false, 1<<20, func() {
		tried.Add(1)
		time.Sleep(time.Millisecond) // the others come meanwhile
	})
	for i, request := range requests {
		webhook := w.webhooks[i%2]
		if one {
			webhook = w.webhooks[0]
		}
		all.Go(func() {
			if webhook.ValidatePod(w.T.Context(), request).Allowed {
				allowed.Add(1)
			}
		})
	}
	all.Wait()
	w.trace.Heal()
	w.trace.Take()
	w.trace.Note(fmt.Sprintf("%d allowed", allowed.Load()))
	if one {
		w.trace.Note(fmt.Sprintf("%d bookings tried", tried.Load()))
	}
}

func (w *world) request(operation, name string) *admissionv1.AdmissionRequest {
	switch operation {
	case "delete":
		return deletion(w.livePod(name), metav1.DeleteOptions{})
	case "evict":
		return eviction(name, nil)
	}
	return update(w.livePod(name), "", newImage)
}

// shown shows what has come of a step within a second.
func (w *world) shown() string {
	w.Sleep("1s")
	out := w.trace.Take()
	if list, err := w.budgets.PodUnavailableBudgets("default").List(w.T.Context(), metav1.ListOptions{}); err == nil && slices.ContainsFunc(list.Items, func(b v1alpha1.PodUnavailableBudget) bool { return b.Name == "web" }) {
		out = append(out, w.show("web"))
		out = append(out, w.heldUp()...)
	}
	out = append(out, w.disruptionBudgets()...)
	return strings.Join(out, "\n")
}

// heldUp shows what holds the budget up, and since when that is said.
func (w *world) heldUp() (lines []string) {
	for _, c := range w.budget("web").Status.Conditions {
		if c.Type == v1alpha1.HeldUpCondition && c.Status == metav1.ConditionTrue {
			lines = append(lines, fmt.Sprintf("held up since %s: %s: %s", c.LastTransitionTime.UTC().Format(time.TimeOnly), c.Reason, c.Message))
		}
	}
	return lines
}

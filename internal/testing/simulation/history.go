// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
)

// The resources that every workload has.
const (
	pods      = "pods"
	claims    = "persistentvolumeclaims"
	revisions = "controllerrevisions"
)

// namespaces is the resource of a cluster whose namespaces have labels.
const namespaces = "namespaces"

var namespaceResource = fakecluster.Resource{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Namespace"), Name: namespaces,
	ClusterScoped: true, Type: func() any { return &corev1.Namespace{} }}

// history is one history while it is played.
type history struct {
	t        testing.TB
	workload *Subject
	seed     uint64
	server   *fakecluster.Server
	records  map[string]*record
	version  int64 // that the records have come to
	kube     kubernetes.Interface
	kubelet  *fakecluster.Kubelet

	kinds  []*kind        // the workload's first
	judged map[string]int // the changes that the judges have seen, by resource

	policies     []policy
	policiesStay bool // however long they were meant to stand
	sick         map[types.UID]ailment
	visited      string // the container that kubelets act for; empty: all
	idle         map[types.UID]idle
	dead         map[string]bool // nodes whose kubelets are

	classesMended bool                    // ClassMended lets volumes grow
	mounters      map[types.UID]types.UID // the pods that mounted claims when their file systems had to wait

	requests  requests
	processes []*Process          // those that run, the older first
	writers   map[string]*Process // who has written an object last
	webhooks  []*Process          // the replicas of the webhook
	open      []*call             // questions to them without an answer
	calls     int                 // questions to them so far
	heard     heard
	serving   bool    // a request
	settled   bool    // everything, since the disturbances ended
	ending    *ending // nil: the namespace of the workload does not end
	callers   []*caller
	drains    map[types.UID]*drain
	drainedBy time.Time
	insisted  map[types.UID]time.Time // when controllers last asked to delete pods
	started   int                     // processes so far
	sent      int                     // requests of processes so far
	refused   int                     // those of them that a policy refused, or for a name that is taken
	reads     int                     // those of them that only read

	step    int
	trace   []string
	outcome *outcome
}

type outcome struct {
	// Seed and Steps determine it.
	Seed  uint64
	Steps int
	// Trace tells it, a line for each event.
	Trace []string
	// Violations lists what did not hold, when it failed. It ends there.
	Violations []invariants.Violation
}

// run plays the history of a seed: so many steps and, if nothing fails, what
// follows when all disturbances end.
func run(t *testing.T, w *Subject, seed uint64, steps int) *outcome {
	t.Helper()
	outcome := &outcome{Seed: seed, Steps: steps}
	synctest.Test(t, func(t *testing.T) {
		h := newHistory(t, w, outcome)
		defer h.stop()
		defer func() { outcome.Trace = h.trace }()
		h.inTurn(func() { h.takeSteps(steps) }, h.quiet, h.endNamespace)
	})
	return outcome
}

// must ends the test if what plays the history does not work.
func (h *history) must(err error) {
	if err != nil {
		h.t.Helper()
		h.t.Fatalf("seed %d, step %d: %v", h.seed, h.step, err)
	}
}

// takeSteps begins the history, and plays so many steps of it, or until something fails.
func (h *history) takeSteps(steps int) {
	h.begin()
	for h.step = 1; h.step <= steps && !h.failed(); h.step++ {
		h.takeStep()
	}
}

// begin fills the cluster: the workload, and a process that runs its controller.
func (h *history) begin() {
	h.records = map[string]*record{
		pods:      newRecord(pods, func() Object { return &corev1.Pod{} }),
		claims:    newRecord(claims, func() Object { return &corev1.PersistentVolumeClaim{} }),
		revisions: newRecord(revisions, func() Object { return &appsv1.ControllerRevision{} }),
	}
	var resources []fakecluster.Resource
	if h.workload.Namespaces {
		resources = append(resources, namespaceResource)
		h.records[namespaces] = newRecord(namespaces, func() Object { return &corev1.Namespace{} })
	}
	for _, f := range h.workload.Further {
		resources = append(resources, f.Resource)
		h.records[f.Resource.Name] = newRecord(f.Resource.Name, f.Empty)
	}
	resources = append(resources, h.recordKinds()...)
	h.server = fakecluster.New(nil, resources...)
	h.server.ProtectClaims()
	if h.hasNodes() {
		h.records[nodes] = newRecord(nodes, func() Object { return &corev1.Node{} })
	}
	h.server.FailBefore(h.before)
	h.server.FailAfter(h.after)
	h.installInjections()
	var err error
	h.kube, err = kubernetes.NewForConfig(h.server.Config("cluster"))
	h.must(err)
	h.kubelet = &fakecluster.Kubelet{Client: h.kube, Server: h.server}
	if h.hasNodes() {
		h.kubelet.Schedule = h.schedule
	}
	h.joinAll()
	if h.workload.Namespaces {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: Web.Namespace}}
		_, err = h.kube.CoreV1().Namespaces().Create(context.Background(), namespace, metav1.CreateOptions{})
		h.must(err)
	}
	for _, k := range h.kinds {
		h.must(h.create(k))
	}
	h.follow()
	h.populate()
	for _, k := range h.kinds {
		h.start(k)
	}
	if !h.workload.OnlyCreations {
		h.startWebhooks()
	}
}

// before has the requests of processes wait for their turn.
func (h *history) before(r fakecluster.Request) error {
	for _, p := range slices.Concat(h.processes, h.webhooks) {
		if p.Name == r.User {
			return h.requests.arrive(p, r)
		}
	}
	for _, c := range h.callers {
		if c.Name == r.User {
			return h.requests.arrive(c.Process, r)
		}
	}
	if r.User == "cluster" {
		return nil
	}
	return errCrash // of a process that is gone
}

// after spoils the answer if the seed says so.
func (h *history) after(r fakecluster.Request) error {
	if r.User == "cluster" {
		return nil
	}
	return h.requests.after
}

// follow takes note of what has happened on the server.
func (h *history) follow() {
	version := h.server.NewestVersion()
	if version == h.version {
		return
	}
	for _, record := range h.records {
		h.must(record.follow(h.server))
	}
	h.version = version
}

// start starts a process of a kind, whose caches begin with what there is.
func (h *history) start(k *kind) {
	h.started++
	p := h.newProcess(fmt.Sprint("controller-", h.started), k)
	var err error
	p.controller, err = k.Start(p)
	h.must(err)
	h.processes = append(h.processes, p)
	p.fill(h.version)
}

// newProcess returns a process that does nothing yet, with empty caches.
func (h *history) newProcess(name string, k *kind) *Process {
	p := &Process{Name: name, Seed: h.seed, Config: h.server.Config(name), history: h, kind: k, replicas: map[string]*replica{}, dirty: true}
	p.Config.Wrap(inTime)
	for resource, record := range h.records {
		p.replicas[resource] = newReplica(record)
	}
	return p
}

// crash ends a process: its requests come to nothing, its memory is gone.
func (h *history) crash(p *Process) {
	h.end(p)
	h.processes = slices.DeleteFunc(h.processes, func(other *Process) bool { return other == p })
}

func (h *history) stop() {
	for _, p := range slices.Clone(h.processes) {
		h.crash(p)
	}
	for _, p := range h.webhooks {
		h.end(p)
	}
	for _, c := range h.callers {
		h.end(c.Process)
	}
}

func (h *history) reconcile(p *Process) {
	p.begin()
	h.settle()
}

// settle lets everything go as far as it can, and takes note.
func (h *history) settle() {
	synctest.Wait()
	for h.answers() {
		synctest.Wait()
	}
	for h.hearCallers() {
		synctest.Wait()
	}
	for _, p := range h.processes {
		result := p.end(time.Now())
		switch {
		case result == nil:
		case result.panic != "":
			h.violate(invariants.Calm, "%s panics: %s", p.Name, result.panic)
		case result.err != nil && strings.Contains(result.err.Error(), "panic: "): // which the shell of controllers has caught
			h.violate(invariants.Calm, "%s: %v", p.Name, result.err)
		case result.err != nil:
			h.say("%s: the reconcile fails: %v", p.Name, result.err)
		}
	}
	for _, v := range h.heard.violations {
		h.violate(v.Invariant, "%s", v.Message)
	}
	h.heard.violations = nil
	h.follow()
	if !h.serving {
		h.hear()
	}
}

// serve lets a request meet its fate, and judges what it did.
func (h *history) serve(r *request, f fate) {
	if f.before == nil && h.asksWebhook(r) && !h.admit(r) {
		return
	}
	h.showJudges(nil)
	h.sent++
	if f.before != nil || f.after != nil {
		r.process.failed++
	}
	if r.Verb == "get" {
		h.reads++
	}
	if err := cmp.Or(h.lacksNamespace(r), h.refuse(r), h.refuseResize(r)); err != nil && f.before == nil {
		h.refused++
		f = fate{name: "is refused", before: err}
	} else if r.Verb == "create" && (h.inVain(r) || h.records[r.Resource].objects[r.key()] != nil) { // it exists
		h.refused++
	}
	h.noteVain(r, &f)
	if r.Verb == "get" && f.after != nil && h.records[r.Resource].objects[r.key()] == nil {
		f.before, f.after = f.after, nil // what is lost is the answer that there is none
	}
	h.say("%s %s%s", r, f.name, r.patchInShort())
	positions := map[string]int{}
	for resource, record := range h.records {
		positions[resource] = len(record.changes)
	}
	h.learn(r, f)
	h.requests.after = f.after
	h.serving = true
	h.requests.release(r, f.before)
	h.settle()
	h.serving, h.requests.after = false, nil
	if known := r.process.known; r.Verb == "get" && r.Resource == pods && f.before == nil && f.after == nil && known != nil {
		known.asked[r.Name] = h.version
	}
	for _, resource := range slices.Sorted(maps.Keys(positions)) {
		if record := h.records[resource]; len(record.changes) > positions[resource] {
			h.judgeWrite(r, positions[resource])
			if known := r.process.known; known != nil && r.Verb == "create" && resource == pods && f.after != nil { // it has not been told of the pod
				known.untold[record.changes[positions[resource]].object.GetName()] = true
			}
		}
	}
	h.showJudges(r.process)
	h.hear()
}

func (h *history) violate(invariant invariants.Invariant, format string, args ...any) {
	v := invariants.Violation{Invariant: invariant, Message: fmt.Sprintf(format, args...)}
	h.say("VIOLATION of %s", v)
	h.outcome.Violations = append(h.outcome.Violations, v)
}

func (h *history) failed() bool { return len(h.outcome.Violations) > 0 }

// afterwards begins the lines of what follows the last step.
const afterwards = "   -"

func (h *history) say(format string, args ...any) {
	step := afterwards
	if h.step > 0 {
		step = fmt.Sprintf("%4d", h.step)
	}
	h.trace = append(h.trace, fmt.Sprintf("%s %s %s", step, time.Now().UTC().Format("15:04:05.000"), fmt.Sprintf(format, args...)))
}

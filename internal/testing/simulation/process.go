// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/podwright/podwright/internal/testing/simulation/invariants"
)

// Process is a process that runs the controller, until it crashes. It works as
// the loop of a controller does. Changes in its caches, the time that a reconcile asks
// for and a back-off after a failure start reconciles, one after the other.
type Process struct {
	// Name tells the processes of a simulation apart.
	Name string
	// Seed is that of the simulation.
	Seed uint64
	// Config reaches the API server in the name of the process.
	Config *rest.Config

	history    *history
	kind       *kind
	controller Controller
	serve      Webhook // of a replica of the webhook
	replicas   map[string]*replica
	own        []write    // its writes, in order
	known      *knowledge // of its last reconcile
	// passedOver are the pods that it has failed to patch or to delete and may pass over
	// until it has, by name.
	passedOver map[string]bool
	// everFailed are the pods that it has ever failed to patch or to delete, by name.
	everFailed map[string]bool
	// refused is what the API server has refused to its reconcile for certain.
	refused []invariants.Refusal

	dirty    bool      // something has changed since the last reconcile began
	due      time.Time // when another reconcile is due; zero: never
	failures int       // reconciles that failed in a row
	rivalry  rivalry

	reconciling bool // a reconcile is under way
	result      *reconcileResult
	cancel      context.CancelFunc
	dead        bool // its requests come to nothing
	failed      int  // its requests that have failed, or whose answers were lost
}

type reconcileResult struct {
	after time.Duration
	err   error
	panic string
}

// Kubernetes returns a client for the built-in kinds.
func (p *Process) Kubernetes() (kubernetes.Interface, error) {
	return kubernetes.NewForConfig(p.Config)
}

// passOver remembers whether the last patch or deletion of a pod has failed.
func (p *Process) passOver(pod string, failed bool) {
	if p.passedOver == nil {
		p.passedOver, p.everFailed = map[string]bool{}, map[string]bool{}
	}
	p.passedOver[pod] = failed
	p.everFailed[pod] = p.everFailed[pod] || failed
}

// Informer returns the informer of a resource. It never runs: what its cache
// holds is for the seed to say.
func (p *Process) Informer(resource string) cache.SharedIndexInformer {
	return p.replicas[resource].informer
}

// HasNodes tells whether the cluster has nodes.
func (p *Process) HasNodes() bool { return p.history.hasNodes() }

// OnAdd has a function called for each object of a resource that its cache sees for the first time. Informers call
// their handlers for added objects in the same way.
func (p *Process) OnAdd(resource string, added func(Object)) {
	r := p.replicas[resource]
	r.added = append(r.added, added)
}

// Live returns the objects of a resource that there are, by name: for models of controllers that are under no test, and
// for judges.
func (p *Process) Live(resource string) []Object {
	return sorted[Object](p.history.records[resource].objects)
}

// Cached returns what the caches of the process hold now, as invariants want it.
func (p *Process) Cached() *invariants.State {
	objects := map[string]map[string]Object{}
	for resource, replica := range p.replicas {
		objects[resource] = replica.view()
	}
	return state(time.Now(), p.kind.Resource.Name, objects)
}

// Violates says what does not hold of something that the process did and that is no write. It may be called while
// others do.
func (p *Process) Violates(all ...invariants.Violation) { p.history.heard.violated(all) }

// Create asks a replica of the webhook about an object that is to be created, as the API server does before it stores it. The
// replicas take turns. Nil: there is none.
func (p *Process) Create(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	replicas := p.history.webhooks
	if len(replicas) == 0 {
		return nil
	}
	p.history.calls++
	return replicas[p.history.calls%len(replicas)].serve(ctx, request)
}

// Observe says that a reconcile reads the caches now. What they hold is what its
// writes are judged by. The reader of the controller calls it.
func (p *Process) Observe() { p.known = p.look() }

// Retries of reconciles that fail, as controllers of this library make them.
const (
	firstRetry = 5 * time.Millisecond
	lastRetry  = 5 * time.Minute
)

func (p *Process) ready(now time.Time) bool {
	return !p.reconciling && (p.dirty || !p.due.IsZero() && !p.due.After(now))
}

// busy tells whether a reconcile is under way, or there is a reason for one.
func (p *Process) busy() bool { return p.reconciling || p.dirty || len(p.lagging()) > 0 }

// waits tells whether a reconcile is under way that waits for time to pass, unless it waits for an answer.
func (p *Process) waits() bool { return p.reconciling && len(p.lagging()) == 0 }

// begin begins a reconcile. It waits for answers, or has ended, after synctest.Wait.
func (p *Process) begin() {
	p.reconciling, p.dirty, p.due, p.result, p.refused = true, false, time.Time{}, nil, nil
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), klog.Logger{}))
	p.cancel = cancel
	go func() {
		var result reconcileResult
		defer func() {
			if r := recover(); r != nil {
				result.panic = fmt.Sprintf("%v\n%s", r, debug.Stack())
			}
			p.result = &result
		}()
		result.after, result.err = p.controller.Reconcile(ctx, Web)
	}()
}

// end takes note of the result of a reconcile, if there is one.
func (p *Process) end(now time.Time) *reconcileResult {
	if !p.reconciling || p.result == nil {
		return nil
	}
	p.cancel()
	p.reconciling = false
	switch {
	case p.result.err != nil:
		p.due = now.Add(min(firstRetry<<min(p.failures, 20), cmp.Or(p.controller.LastRetry, lastRetry)))
		p.failures++
	default:
		p.failures = 0
	}
	if due := now.Add(p.result.after); p.result.after > 0 && (p.result.err == nil || p.controller.OnTime && due.Before(p.due)) {
		p.due = due
	}
	return p.result
}

// advance shows a cache of the process so many changes.
func (p *Process) advance(resource string, n int) {
	for range n {
		p.history.must(p.replicas[resource].advance())
		p.dirty = p.dirty || p.watches(resource)
	}
}

// watches tells whether changes of a resource start reconciles.
func (p *Process) watches(resource string) bool { return !slices.Contains(p.kind.Ignores, resource) }

func (p *Process) fill(version int64) {
	for _, replica := range p.replicas {
		p.history.must(replica.relist(version))
	}
}

func (p *Process) relist(resource string, version int64) {
	if p.replicas[resource].behind() > 0 && p.watches(resource) {
		p.dirty = true
	}
	p.history.must(p.replicas[resource].relist(version))
}

// lagging names the caches that have not seen everything.
func (p *Process) lagging() (resources []string) {
	for _, resource := range slices.Sorted(maps.Keys(p.replicas)) {
		if p.replicas[resource].behind() > 0 {
			resources = append(resources, resource)
		}
	}
	return resources
}

// Bounds of how long a process may wait before it writes again what another one has changed. (CT-12)
const (
	firstRivalry = time.Second
	lastRivalry  = 5 * time.Minute
	overRivalry  = 10 * time.Minute // without another such change
)

// rivalry is how often other processes of a kind have changed what a process of it had written last.
type rivalry struct {
	times int
	last  time.Time
}

// noteWriter notes who has written an object, and that this changes what another process of the kind had written there.
func (h *history) noteWriter(p *Process, resource, key string) {
	object := resource + " " + key
	if before := h.writers[object]; before != nil && before != p && before.kind == p.kind {
		before.rivalry.add(time.Now())
	}
	if h.writers == nil {
		h.writers = map[string]*Process{}
	}
	h.writers[object] = p
}

func (r *rivalry) add(now time.Time) {
	if now.Sub(r.last) >= overRivalry {
		r.times = 0
	}
	r.times, r.last = r.times+1, now
}

// explains tells whether a process may wait until a moment since others undo what it writes. It puts the first change back at once, and
// the next one a second after that. Each further one waits twice as long.
func (r *rivalry) explains(due time.Time) bool {
	if r.times < 2 || due.IsZero() {
		return false
	}
	pause := min(firstRivalry<<min(r.times-2, 20), lastRivalry)
	return !due.After(r.last.Add(pause + late))
}

// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/simulation/invariants"
)

// How namespaces end: one history in so many ends so, in at most so many steps.
const (
	endsOneIn   = 3
	endingSteps = 60
	// laterSteps is what the steps are counted from that come after a history has been quiet.
	laterSteps = 10_000
)

// holder is the finalizer of others that holds objects in a namespace that ends.
const holder = "example.com/holder"

// ending is the end of the namespace of the workload.
type ending struct {
	ordered bool // pods go first, as since Kubernetes 1.33
	held    []string
	told    map[told]int
}

// told is a process that was told that nothing can be created any more, and for which generation of the workload. With it stands how many
// requests had been sent by then: those of the same batch are no mistake.
type told struct {
	process    string
	generation int64
}

// endNamespace has the namespace of the workload be deleted in some histories, amid what may happen to the workload. The API server
// refuses to create anything in it. The controller of namespaces deletes what is in it, in any order. Finalizers of others may hold
// something. In the end, everything is gone.
func (h *history) endNamespace() {
	r := rand.New(rand.NewPCG(h.seed, 1<<35))
	if r.IntN(endsOneIn) > 0 {
		return
	}
	h.drainedBy = time.Time{}
	steps := func() { h.takeLaterSteps(r.IntN(endingSteps)) }
	begin := func() {
		h.ending = &ending{ordered: r.IntN(2) == 0, told: map[told]int{}}
		h.server.EndNamespace(Web.Namespace)
		h.say("admin: deletes the namespace")
		h.holdSome(r)
	}
	if h.inTurn(steps, begin, steps, h.endDisturbances, h.pushInVain, h.settleEnding); h.failed() || len(h.ending.held) == 0 {
		return
	}
	h.inTurn(h.freeHeld, h.settleEnding)
}

// pushInVain has the users push: what only a webhook would have refused is taken back.
func (h *history) pushInVain() {
	for _, k := range h.kinds {
		if user := h.user(k); user.Workload() != nil {
			k.Push(user)
		}
	}
	h.settle()
}

func (h *history) settleEnding() {
	h.inTurn(h.untilSettled, h.judgeEnding)
}

// takeLaterSteps plays steps after a history has been quiet, until something fails.
func (h *history) takeLaterSteps(n int) {
	for ; n > 0 && !h.failed(); n-- {
		h.step = max(h.step, laterSteps) + 1
		h.takeStep()
	}
}

// endDisturbances leaves one process of each kind, and nodes whose kubelets live.
func (h *history) endDisturbances() {
	h.step = 0
	h.endRivals()
	h.policies, h.policiesStay = nil, false
	h.endDead()
}

// holdSome has a finalizer of others hold the workload, a pod or another object of the namespace, or nothing.
func (h *history) holdSome(r *rand.Rand) {
	all := h.inNamespace()
	if len(all) == 0 || r.IntN(2) == 0 {
		return
	}
	chosen := all[r.IntN(len(all))]
	h.ending.held = append(h.ending.held, chosen.String())
	h.finalize(chosen, append(slices.Clone(chosen.object.GetFinalizers()), holder))
}

func (h *history) freeHeld() {
	h.ending.held = nil
	for _, o := range h.inNamespace() {
		if f := o.object.GetFinalizers(); slices.Contains(f, holder) {
			h.finalize(o, slices.DeleteFunc(slices.Clone(f), func(name string) bool { return name == holder }))
		}
	}
}

func (h *history) finalize(o resident, finalizers []string) {
	h.say("user: finalizers of %s: %q", o, finalizers)
	h.server.Finalize(o.resource, Web.Namespace, o.object.GetName(), finalizers)
	h.settle()
}

type resident struct {
	resource string
	object   Object
}

func (r resident) String() string { return r.resource + " " + r.object.GetName() }

func (h *history) inNamespace() (all []resident) {
	for resource, record := range h.records {
		for _, object := range record.objects {
			if object.GetNamespace() == Web.Namespace {
				all = append(all, resident{resource, object})
			}
		}
	}
	slices.SortFunc(all, func(a, b resident) int { return strings.Compare(a.String(), b.String()) })
	return all
}

// sweep has the controller of namespaces delete all objects of a resource.
func (h *history) sweep(r *rand.Rand) {
	all := h.inNamespace()
	if len(all) == 0 {
		return
	}
	resource := all[r.IntN(len(all))].resource
	if h.ending.ordered && len(h.podList()) > 0 {
		resource = pods
	}
	h.sweepAway(resource)
}

func (h *history) sweepAll() {
	if h.ending == nil {
		return
	}
	for _, o := range h.inNamespace() {
		if h.ending.ordered && len(h.podList()) > 0 && o.resource != pods {
			continue
		}
		h.sweepAway(o.resource)
	}
}

func (h *history) sweepAway(resource string) {
	if n := h.server.Sweep(Web.Namespace, resource); n > 0 {
		h.say("namespace controller: deletes %d %s", n, resource)
	}
	h.settle()
}

// inVain tells whether a request creates something in the namespace that ends.
func (h *history) inVain(r *request) bool {
	return h.ending != nil && r.Verb == "create" && r.Namespace == Web.Namespace
}

// noteVain judges a creation in vain by a controller under test, and notes that its process is told.
func (h *history) noteVain(r *request, f *fate) {
	if k := r.process.kind; !h.inVain(r) || f.before != nil || f.after != nil || k == nil || k.judge.Write == nil {
		return
	}
	to := told{process: r.process.Name}
	if known := r.process.known; known != nil {
		if workload := known.observed[r.process.kind.Resource.Name][Web.Name]; workload != nil {
			to.generation = workload.GetGeneration()
		}
	}
	if sent, known := h.ending.told[to]; known && r.number > sent {
		h.violate(invariants.Ending, "%s: it was told that the namespace is being deleted, and nothing has changed", r)
	} else if !known {
		h.ending.told[to] = h.requests.arrived
	}
}

// judgeEnding judges what is left of the namespace: what others hold, and what is in order before it goes.
func (h *history) judgeEnding() {
	h.showJudges(nil)
	waits := h.ending.ordered && len(h.podList()) > 0
	for _, o := range h.inNamespace() {
		inOrder := waits && o.resource != pods || len(h.ending.held) > 0 && slices.Equal(o.object.GetFinalizers(), []string{metav1.FinalizerDeleteDependents})
		if !inOrder && !slices.Contains(h.ending.held, o.String()) {
			h.violate(invariants.Ending, "%s is left in the namespace, by its finalizers %q", o, o.object.GetFinalizers())
		}
	}
	for _, k := range h.kinds {
		workload := h.user(k).Workload()
		if workload == nil {
			continue
		}
		if k.Resource.ClusterScoped {
			for _, v := range k.judge.Settled(h.truth(k), false) {
				h.violate(v.Invariant, "after the namespace: %s", v.Message)
			}
			continue
		}
		if workload.GetDeletionTimestamp() == nil {
			h.judgeCounts(workload)
		}
	}
}

// judgeCounts: a status counts no pods that are gone. It keeps the numbers of the generation before while the revision of the
// present one is refused, as here each is. (CT-9)
func (h *history) judgeCounts(workload Object) {
	var status struct{ Spec, Status map[string]any }
	if err := json.Unmarshal(raw(workload), &status); err != nil {
		h.violate(invariants.Ending, "%v", err)
	}
	if observed, is := status.Status["observedGeneration"].(float64); is && int64(observed) < workload.GetGeneration() {
		return
	}
	for _, field := range []string{"replicas", "readyReplicas", "updatedReplicas", "updatedReadyReplicas", "availableReplicas", "updatedAvailableReplicas", "currentReplicas",
		"active", "currentNumberScheduled", "numberAvailable", "numberReady", "matched", "currentAvailable", "totalReplicas"} {
		wanted := field == "totalReplicas" && // by the workload, which goes after its pods, or by the budget (PUB-3, PUB-4)
			(status.Spec["targetRef"] != nil || workload.GetAnnotations()["pub.kruise.io/protect-total-replicas"] != "")
		if n, is := status.Status[field].(float64); is && int(n) > len(h.podList()) && !wanted {
			h.violate(invariants.Ending, "status.%s is %v, and there are %d pods", field, n, len(h.podList()))
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
)

// Subject is a kind of workload, as a simulation needs to know it.
type Subject struct {
	// Resource is how the API server knows it. Of pods its kind and name matter.
	Resource fakecluster.Resource
	// Empty returns an empty object of its type. Not called for pods.
	Empty func() Object
	// Nodes is how many nodes the cluster begins with: others join, and they leave, are
	// tainted, relabelled and restarted. 0: nodes do not matter.
	Nodes int
	// Namespaces says that the labels of the namespace of the pods matter, which users
	// change.
	Namespaces bool
	// PodsEnd says that pods run to their end: they succeed, or fail if their image is bad.
	PodsEnd bool
	// StartIn is how long pods take at least until they have a node and start. 0: no time.
	StartIn time.Duration
	// Reports says that the scheduler reports the pods for which it finds no node.
	Reports bool
	// Further are the resources of objects that controllers create beside pods, claims and revisions.
	Further []Further
	// ByContainer says that single containers matter. Kubelets come to one after the other, and some turn unready
	// alone. Images that are called "nopull" cannot be pulled.
	ByContainer bool
	// Resizes says that nodes resize pods: soon or later, and for a part of the pods, whose nodes are
	// full, never.
	Resizes bool
	// StartupProbes says that containers may have startup probes, which kubelets ask in time.
	StartupProbes bool
	// VolumesGrow says that a driver binds claims, and grows volumes: soon, when a pod starts anew, or never.
	VolumesGrow bool
	// KubeletsDie says that kubelets die, for a while or until their nodes leave, and that some reject pods. Needs Nodes.
	KubeletsDie bool
	// Injected says that webhooks of others change new pods, in every other history.
	Injected bool
	// Rewritten says that they change what pods run, and when these are ready: containers, requests, annotations, readiness gates.
	// Mirrored says that they then rewrite images to those of a mirror, too, also at updates.
	Rewritten, Mirrored bool
	// OnlyMirrored says that they do nothing else, in every history, and in half of them at creation alone.
	OnlyMirrored bool
	// Create returns the workload of a seed. Its name and namespace are those of Web.
	Create func(r *rand.Rand) Object
	// Populate makes what there is beside the workload when the history begins. Nil: nothing.
	Populate func(u *User, r *rand.Rand)
	// Others is one thing that others do to the pods, who have controllers of their own. It
	// happens as often as Act. Nil: there are none.
	Others func(u *User, r *rand.Rand)
	// Start starts the controller of a process that has just begun, and remembers nothing.
	Start func(p *Process) (Controller, error)
	// Webhooks is how many replicas of a webhook run. Before a pod is deleted, evicted or changed by
	// any client but kubelets and those who use force, one of them is asked. 0: none is.
	Webhooks int
	// OnlyCreations says that the webhook is asked about new pods alone: by those who create them, with User.Admit.
	OnlyCreations bool
	// StartWebhook starts a replica. Required with Webhooks.
	StartWebhook func(p *Process) (Webhook, error)
	// Patience is how long nothing may happen until all has settled, while users have not pushed a
	// template. 0 stands for an hour. Less is for those who poll.
	Patience time.Duration
	// Refusals are what policies forbid, one at a time; quotas of pods come beside. Nil: what controllers of pods ask for.
	Refusals []invariants.Refusal
	// Ignores are the resources whose changes start no reconcile. What reads the cache of one looks
	// again when something else does.
	Ignores []string
	// Act is one thing that users do to the workload, or that owners of its
	// lifecycle hooks do to its pods.
	Act func(u *User, r *rand.Rand)
	// Rare are what users change now and then beside what Act does, of fields that are seldom changed. Nil: nothing.
	Rare func(u *User, r *rand.Rand)
	// Release is what owners of lifecycle hooks do at last: they release what
	// waits for them. Nil: there are none.
	Release func(u *User)
	// Ask is what users ask for at once when all has settled, before they push: to evict all pods, for example. It may be refused.
	// Nil: nothing.
	Ask func(u *User)
	// Push is all that users do in the end: they push a template whose pods run,
	// and take back what asks for a standstill. Then they wait: everything else
	// is for the controller to overcome.
	Push func(u *User)
	// Judge returns what judges the history of a seed.
	Judge func(seed uint64) Judge
	// Beside are other kinds whose controllers write to the same pods. Each has processes of
	// its own, users who act, and a judge of what its controller writes. Of such kinds,
	// Nodes, PodsEnd, StartIn, Reports, Further, ByContainer, Resizes, StartupProbes, VolumesGrow, KubeletsDie, Injected, Rewritten, Mirrored, Namespaces, Webhooks, OnlyCreations, Populate, Others and Beside
	// mean nothing. OnlyMirrored means nothing either.
	Beside []*Subject
}

// Further is a resource beside those that every history has.
type Further struct {
	// Resource is how the API server knows it.
	Resource fakecluster.Resource
	// Empty returns an empty object of its type.
	Empty func() Object
}

type kind struct {
	*Subject
	judge Judge
}

func (w *Subject) kinds(seed uint64) []*kind {
	all := []*kind{{w, w.Judge(seed)}}
	for _, beside := range w.Beside {
		all = append(all, &kind{beside, beside.Judge(seed)})
	}
	return all
}

// recordKinds begins the records of the kinds of a history, and returns their resources. Pods have both from the beginning.
func (h *history) recordKinds() (resources []fakecluster.Resource) {
	for _, k := range h.kinds {
		if k.Resource.Name != pods {
			resources = append(resources, k.Resource)
			h.records[k.Resource.Name] = newRecord(k.Resource.Name, k.Empty)
		}
	}
	return resources
}

// Judge judges one history.
type Judge struct {
	// Observe is called for all changes, by any author, in the order in which they were made. For a write of the
	// controller it is called after the write was judged. Nil: it is not needed.
	Observe func(c *invariants.Change)
	// Write judges a write of the controller.
	Write func(w *invariants.Write) []invariants.Violation
	// Witness judges a write of everybody else whose requests wait for their turn: other
	// controllers, webhooks and users. Nil: they do not matter.
	Witness func(w *invariants.Write) []invariants.Violation
	// Answer judges what a webhook has answered about a pod, or a controller itself. Nil: it
	// does not matter.
	Answer func(a *invariants.Answer) []invariants.Violation
	// Settled judges what there is when all has settled. pushed says that the
	// users have pushed a template whose pods run, and that nothing is refused.
	Settled func(s *invariants.State, pushed bool) []invariants.Violation
}

// Unjudged is the Judge of a kind that is not under test, and that another one is beside.
func Unjudged(uint64) Judge {
	return Judge{Settled: func(*invariants.State, bool) []invariants.Violation { return nil }}
}

// Web is the workload of every simulation.
var Web = types.NamespacedName{Namespace: "default", Name: "web"}

// Controller is the controller under test.
type Controller struct {
	// Reconcile reconciles the workload once.
	Reconcile func(context.Context, types.NamespacedName) (requeueAfter time.Duration, err error)
	// Unfinished shows what a reconcile would do now; empty stands for nothing.
	Unfinished func() (string, error)
	// Held tells whether a server asked the last reconcile for patience. Then it is no failure that something is left
	// to do. Nil: never.
	Held func() bool
	// LastRetry is the longest back-off after reconciles that fail. 0 stands for five minutes, which is that of this library.
	LastRetry time.Duration
	// OnTime says that a reconcile that fails is repeated after the time that it returns, if the back-off is longer.
	OnTime bool
}

// ReconcileEach returns the Controller.Reconcile of several objects, which reconciles one after the other, whatever it is asked about. It
// returns the soonest time after which one is to be reconciled again.
func ReconcileEach(reconcile func(context.Context, types.NamespacedName) (time.Duration, error), keys ...types.NamespacedName) func(context.Context, types.NamespacedName) (time.Duration, error) {
	return func(ctx context.Context, _ types.NamespacedName) (soonest time.Duration, err error) {
		for _, key := range keys {
			after, failed := reconcile(ctx, key)
			if err = errors.Join(err, failed); after > 0 && (soonest == 0 || after < soonest) {
				soonest = after
			}
		}
		return soonest, err
	}
}

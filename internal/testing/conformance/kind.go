// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"sync/atomic"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// Subject describes a controller, and a scenario of one object that makes it write
// everything that it ever writes.
type Subject struct {
	// Resource is what it manages, More what else the API server serves.
	Resource fakecluster.Resource
	More     []fakecluster.Resource
	// Watches names the resources that it watches, Writes the requests that it
	// makes in the scenario, other than reads. It makes no others.
	Watches, Writes []string
	// Misses names resources of which the status says after a minute that an object is missing. While their cache is stale it says
	// so of what is there, by one write.
	Misses []string
	// Repeats names those of the writes that are made again after a lost answer
	// without a look at the object: made twice they change nothing.
	Repeats []string

	// Uncontested are those of the writes that another writer cannot take back, or that are not made again then, with the reason. All
	// others are made again, with pauses that grow. (CT-12)
	Uncontested map[string]string
	// Trusted are those of the writes whose values the kind trusts, whichever writer they come from, with the reason. What another writer has put
	// there in the end stays. (CT-15)
	Trusted map[string]string
	// Unasked are the rights, as "get /pods", that the rules of the kind state, and that no scenario makes use of, with the reason. "*" stands for
	// all: another scenario of the kind makes use of them.
	Unasked map[string]string
	// MoreTries is how many more tries an hour there are than CT-11 says for all kinds. It is for kinds with a
	// schedule, or with a shorter longest pause.
	MoreTries int
	// Turns is how many Subjects with the same writes take turns. The refusals of an hour are dealt out among them, and Turn is the
	// number of this one. Default: it plays all.
	Turn, Turns int

	// New makes a controller, a new one for every start. Its clients are those
	// of fixture.ControllerUser.
	New func(*Cluster) (Controller, error)
	// Prepare creates what is there before the controller starts. Nil stands for
	// nothing.
	Prepare func(*Cluster)
	// Create creates an object, and whatever it needs. Default namespace.
	Create func(c *Cluster, name string)
	// Change has the controller write again. Nil stands for nothing.
	Change func(c *Cluster, name string)
	// Step plays the part of everybody else, once; nil stands for kubelets and
	// the garbage collector.
	Step func(*Cluster)
	// Outcome shows what has become of an object, in words that do not depend on
	// the way there.
	Outcome func(c *Cluster, name string) string
	// About shows what an object says about itself, as where its conditions are. Nil stands for the status of the object
	// of that name.
	About func(c *Cluster, name string) string
	// Noise changes, once for every number, what nothing depends on. Nil stands
	// for the heartbeats of pods and nodes.
	Noise func(c *Cluster, i int)
	// Strangers creates objects that look as if they belonged to the object of a
	// name, and belong to another owner. Nil stands for none.
	Strangers func(c *Cluster, name string)

	rights *rights
}

// Controller is what the suite drives.
type Controller struct {
	// run runs the controller until the context is done.
	run func(context.Context) error
	// memory is the controller itself: what it remembers is counted. (CT-14)
	memory any
	// rules are those that the kind states for these options.
	rules []rbacv1.PolicyRule
	// NamespaceRules are those that it states for one namespace.
	NamespaceRules map[string][]rbacv1.PolicyRule
	// Next shows what the next reconcile of an object would do, empty for nothing.
	Next func(types.NamespacedName) (string, error)
}

// Made makes what the suite drives, by options and the rules that they take.
func Made[O, S, P any](of fixture.Package[O, S, P], o O, rules []rbacv1.PolicyRule) (Controller, error) {
	controller, err := of.New(o)
	if err != nil {
		return Controller{}, err
	}
	return Controller{memory: controller, rules: rules, run: controller.Run,
		Next: func(key types.NamespacedName) (string, error) { return of.Unfinished(controller, key) }}, nil
}

// Cluster is the fake cluster that a Subject works with.
type Cluster struct {
	*fixture.Cluster
	// Reconciles is for the metrics of the controller, Cluster.Events for its
	// events.
	Reconciles *fixture.Reconciles
	// Data is the Subject's own, nil at the beginning of a scenario.
	Data any

	kind   *Subject
	own    bool // the controller is to make its informers itself
	shared []cache.SharedIndexInformer
	memory any
	next   func(types.NamespacedName) (string, error)
	// served counts the writes that were made, whether or not the answer was
	// lost.
	served *counter
	// requests of the controller, and whether there were too many.
	requests atomic.Int64
	looped   atomic.Bool
}

// Share returns an informer that the controller shares with others, guarded
// against changes of its objects; or nil, if it is to make its own.
func (c *Cluster) Share(informer cache.SharedIndexInformer) cache.SharedIndexInformer {
	if c.own {
		return nil
	}
	c.Guard(informer)
	c.shared = append(c.shared, informer)
	return informer
}

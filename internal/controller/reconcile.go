package controller

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/consistency"
)

// Passes makes passes over the workloads of one kind, of which S is a snapshot
// and P a plan. All functions are required. It is safe for use by several
// goroutines, as long as one of them at a time reconciles a workload.
type Passes[S, P any] struct {
	// Writer remembers what earlier passes wrote.
	Writer *apply.Writer
	// Seen tells how far the caches are.
	Seen consistency.Seen
	// Reads are the caches that must be able to tell how far they are.
	Reads []consistency.Resource
	// AllowStaleReads makes passes on caches that cannot tell, and waits for none.
	AllowStaleReads bool
	// Clock measures how long planning takes.
	Clock clock.PassiveClock

	// Observe reads everything that a plan depends on. It returns nil when the
	// workload does not exist.
	Observe func(key types.NamespacedName) (*S, error)
	// Plan decides what to do.
	Plan func(*S) *P
	// Apply carries a plan out. It returns what Reconcile returns.
	Apply func(context.Context, *S, *P) (requeueAfter time.Duration, err error)
	// Objects returns the pods and claims that a snapshot holds.
	Objects func(*S) ([]*corev1.Pod, []*corev1.PersistentVolumeClaim)

	planning consistency.Last[time.Duration] // how long planning took
}

// Reconcile makes one pass over a workload. It asks for another one after a
// time (0: only when something changes), or returns an error and wants to be
// called again after a back-off. It does nothing while the caches have not seen
// what its earlier passes wrote.
func (p *Passes[S, P]) Reconcile(ctx context.Context, key types.NamespacedName) (requeueAfter time.Duration, err error) {
	own := &p.Writer.Own
	if err := own.Settle(key, func(resource consistency.Resource, name string) (string, error) {
		return p.Writer.Find(ctx, key.Namespace, resource, name, func() (bool, error) { return p.shown(key, resource, name) })
	}); err != nil {
		return 0, err
	}
	if wait, err := p.wait(ctx, key); wait > 0 || err != nil {
		return wait, err
	}
	snapshot, err := p.Observe(key)
	if err != nil {
		return 0, err
	}
	if snapshot == nil {
		p.Writer.Forget(key)
		p.planning.Forget(key)
		return 0, nil
	}
	if err := p.checkComplete(ctx, key, snapshot); err != nil {
		return 0, err
	}
	start := p.Clock.Now()
	plan := p.Plan(snapshot)
	p.planning.Set(key, p.Clock.Since(start))
	return p.Apply(ctx, snapshot, plan)
}

// wait returns how long to wait for the caches, and an error where they cannot be
// waited for.
func (p *Passes[S, P]) wait(ctx context.Context, key types.NamespacedName) (time.Duration, error) {
	if p.AllowStaleReads {
		return 0, nil
	}
	for _, resource := range p.Reads {
		if p.Seen(resource) == "" {
			return 0, fmt.Errorf("the cache of %s cannot tell how far it is, or is not filled yet: a pass over %s would not know whether it sees "+
				"what the one before has written, and would write it again. Reader.Seen must tell; "+
				"Options.AllowStaleReads goes on all the same", resource, key)
		}
	}
	return Wait(ctx, &p.Writer.Own, key, p.Seen, p.Clock.Now(), p.Writer.Newest)
}

// checkComplete finds out whether a cache that has seen all writes shows the pods
// which were created. Where one is missing, it asks the API server: it may be
// gone again, but where it exists, the cache does not show everything.
func (p *Passes[S, P]) checkComplete(ctx context.Context, key types.NamespacedName, snapshot *S) error {
	var names map[string]bool // made for the first created pod
	shown := func(pod string) bool {
		if names == nil {
			names = map[string]bool{}
			pods, _ := p.Objects(snapshot)
			for _, pod := range pods {
				names[pod.Name] = true
			}
		}
		return names[pod] || p.AllowStaleReads
	}
	unseen := p.Writer.Own.Unseen(key, shown)
	for _, name := range slices.Sorted(maps.Keys(unseen)) { // the same requests in every run of a history
		exists, err := p.Writer.Exists(ctx, key.Namespace, name, unseen[name])
		if err != nil {
			return fmt.Errorf("read pod %s, which was created and is not in the cache: %w", name, err)
		}
		if exists {
			return fmt.Errorf("pod %s/%s was created and exists, and the cache of pods, which is at a later version, lacks it: "+
				"does its informer select by labels, fields or namespace? Share one that holds all pods of the namespace", key.Namespace, name)
		}
	}
	if len(unseen) > 0 {
		p.Writer.Own.Unseen(key, func(string) bool { return true }) // they are gone again
	}
	return nil
}

// shown tells whether the cache holds a pod or a claim of a workload.
func (p *Passes[S, P]) shown(key types.NamespacedName, resource consistency.Resource, name string) (bool, error) {
	snapshot, err := p.Observe(key)
	if snapshot == nil || err != nil {
		return false, err
	}
	pods, claims := p.Objects(snapshot)
	if resource == consistency.Claims {
		return slices.ContainsFunc(claims, func(c *corev1.PersistentVolumeClaim) bool { return c.Name == name }), nil
	}
	return slices.ContainsFunc(pods, func(p *corev1.Pod) bool { return p.Name == name }), nil
}

// Next returns what the next pass over a workload would do, without doing it;
// nil when the workload does not exist.
func (p *Passes[S, P]) Next(key types.NamespacedName) (*P, error) {
	snapshot, err := p.Observe(key)
	if snapshot == nil || err != nil {
		return nil, err
	}
	return p.Plan(snapshot), nil
}

// Events about pods and claims come in swarms, and a pass looks at all pods.
// So they are collected before a pass: the longer it takes to plan, the longer.
// Planning thus takes about a twentieth of one core at most, per workload.
const (
	leastSettleTime = 10 * time.Millisecond
	mostSettleTime  = 500 * time.Millisecond
	settleFactor    = 20
)

// SettleTime is how long to collect events about what a workload owns before a
// pass over it.
func (p *Passes[S, P]) SettleTime(key types.NamespacedName) time.Duration {
	return min(max(settleFactor*p.planning.Get(key), leastSettleTime), mostSettleTime)
}

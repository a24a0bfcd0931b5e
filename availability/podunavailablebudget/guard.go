// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright/availability/budget"
	"github.com/podwright/podwright/availability/client"
	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/manifests"
)

// DecisionMetrics receives the answers of a Guard. Implementations must be safe for use by
// several goroutines.
type DecisionMetrics interface {
	// Decided is called with every answer about a pod that a budget protects, and how long it
	// took. Errors are left out, and so are pods that name a budget which is not there.
	Decided(namespace, budget string, operation v1alpha1.PubOperation, allowed bool, took time.Duration)
}

// GuardOptions says what a Guard works with. Availability and Budgets are required.
type GuardOptions struct {
	// Availability writes the status of budgets, and reads those that the cache lacks or has an
	// old state of.
	Availability client.Interface
	// Budgets reads a cache of budgets, which may be behind, and may still be empty. With an index
	// by namespace it is fast if there are many.
	Budgets client.PodUnavailableBudgetLister
	// Clock defaults to the real one. It should not be far from those of other programs
	// that ask for the same budgets.
	Clock clock.Clock
	// Metrics defaults to none.
	Metrics DecisionMetrics
	// Features switches how it decides.
	Features Features
}

// Guard answers whether pods may be taken down, and books them. NewGuard makes one. It is
// safe for use by several goroutines, and beside Guards of other processes. It has no cache to wait for: what Budgets lacks, it asks
// the API server. (PUB-25)
type Guard struct {
	options GuardOptions
	locks   keyedLocks
	last    latest[*v1alpha1.PodUnavailableBudget] // as it was written or read last, if the cache is behind
	told    latest[telling]                        // of which pods an event told that they may not go
}

var _ budget.Guard = (*Guard)(nil)

// NewGuard returns a Guard.
func NewGuard(o GuardOptions) (*Guard, error) {
	check := controller.Check("podunavailablebudget").KindClient("Availability", "availability", o.Availability != nil)
	if err := check.That(o.Budgets != nil, "Options.Budgets is nil: it needs a lister of budgets, client.NewPodUnavailableBudgetLister makes one").Err(); err != nil {
		return nil, err
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	return &Guard{options: o}, nil
}

// Allow answers whether the pod may be deleted, evicted or updated now, and books it; see
// budget.Guard.
func (g *Guard) Allow(ctx context.Context, pod *corev1.Pod, operation v1alpha1.PubOperation) (budget.Decision, error) {
	return g.decide(ctx, inquiry{pod: pod, operation: operation})
}

// AllowUpdate is Allow for an update, in place or by recreation. By this method a Guard is what
// the field Budget of the options of CloneSets, StatefulSets, DaemonSets and SidecarSets takes.
func (g *Guard) AllowUpdate(ctx context.Context, pod *corev1.Pod) (bool, error) {
	d, err := g.Allow(ctx, pod, v1alpha1.PubUpdateOperation)
	return d.Allowed, err
}

// How often a Guard tries to book on a budget that others book on at the same time, or that is slow
// to write. The pauses in between.
const attempts = 4

// bookedWithin is how long a write may take. What is booked is kept from the decision on, and
// the caller needs the rest of the time.
const bookedWithin = budget.UnavailableFor / 2

// errSlow says that something is booked, and not for long enough.
var errSlow = fmt.Errorf("it took more than %v to write the status", bookedWithin)

var pauses = wait.Backoff{Duration: 2 * time.Millisecond, Factor: 10, Jitter: 0.5, Steps: attempts}

// inquiry is what a Guard is asked.
type inquiry struct {
	pod *corev1.Pod
	// budget is one that the pod may be told of; empty for the one that it names.
	budget    string
	operation v1alpha1.PubOperation
	dryRun    bool // books nothing
	// live reads the pod, if what is known of it may be behind; otherwise live is nil. It returns nil if there
	// is no such pod.
	live func(context.Context) (*corev1.Pod, error)
}

// name is the name of the budget that is asked; empty for none.
func (q *inquiry) name() string { return cmp.Or(q.budget, relatedTo(q.pod)) }

// decide is Allow.
func (g *Guard) decide(ctx context.Context, q inquiry) (budget.Decision, error) {
	key := types.NamespacedName{Namespace: q.pod.Namespace, Name: q.name()}
	if key.Name == "" {
		return budget.Decide(nil, q.pod, g.request(q, time.Time{})), nil
	}
	start := g.options.Clock.Now()
	unlock, err := g.locks.lock(ctx, key)
	if err != nil {
		return budget.Decision{}, fmt.Errorf("wait for PodUnavailableBudget %s: %w", key, err)
	}
	defer unlock()
	pauses := pauses
	for attempt := 1; ; attempt++ {
		d, protected, err := g.try(ctx, key, q, attempt > 1)
		if err == nil && protected {
			controller.Measure(g.options.Metrics, func(m DecisionMetrics) {
				m.Decided(key.Namespace, key.Name, q.operation, d.Allowed, g.options.Clock.Since(start))
			})
		}
		if err == nil {
			return d, nil
		}
		// One that is not found when it is booked is read: if it is gone it protects nothing.
		if !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) && !errors.Is(err, errSlow) || attempt == attempts {
			return budget.Decision{}, err
		}
		select {
		case <-ctx.Done():
			return budget.Decision{}, err
		case <-g.options.Clock.After(pauses.Step()):
		}
	}
}

// request is what a budget is asked.
func (g *Guard) request(q inquiry, now time.Time) budget.Request {
	features := g.options.Features
	return budget.Request{Operation: q.operation, ResizesAlone: features.ResizesAlone, InconsistentMayGo: features.InconsistentMayGo, Now: now}
}

// try decides on the newest state of the budget that is known, or on what the API server has, and
// books. What a cache alone allows, with nothing to book, no conflict puts right: it is read before. It fails with a
// conflict if the budget has changed meanwhile, and with errSlow if that took
// long. If there is no such budget, the pod is not protected. (PUB-25, PUB-34)
func (g *Guard) try(ctx context.Context, key types.NamespacedName, q inquiry, live bool) (d budget.Decision, protected bool, err error) {
	b, read, err := g.budget(ctx, key, live)
	if err != nil {
		return d, false, fmt.Errorf("read PodUnavailableBudget %s: %w", key, err)
	}
	pod, err := g.podOf(ctx, q, b)
	if pod == nil || err != nil {
		return budget.Decision{Allowed: true, Reason: "there is no such pod"}, false, err
	}
	request := g.request(q, g.options.Clock.Now())
	d = budget.Decide(b, pod, request)
	if d.Allowed && d.Status == nil && !read && !freeItself(pod, q.operation) {
		return g.try(ctx, key, q, true)
	}
	protected = b != nil && relatedTo(pod) != ""
	if q.dryRun { // (PUB-15)
		d.Status = nil
	}
	if d.Status == nil || budget.Equal(d.Status, &b.Status) {
		return d, protected, nil
	}
	if err := g.book(ctx, b, d.Status); err != nil {
		return budget.Decision{}, true, fmt.Errorf("write the status of PodUnavailableBudget %s: %w", key, err)
	}
	if g.options.Clock.Since(request.Now) > bookedWithin {
		return budget.Decision{}, true, fmt.Errorf("PodUnavailableBudget %s: %w", key, errSlow)
	}
	return d, protected, nil
}

// podOf returns the pod that is judged; nil if it is gone. One that seems to be unprotected or not ready is read anew, after
// the budget. It may have been counted before that, and not since without a conflict. So is any, if what its containers run
// matters, which a cache for evictions does not keep. (PUB-33)
func (g *Guard) podOf(ctx context.Context, q inquiry, b *v1alpha1.PodUnavailableBudget) (*corev1.Pod, error) {
	if q.live == nil || !g.options.Features.InconsistentMayGo && seemsProtected(b, q.pod) {
		return q.pod, nil
	}
	pod, err := q.live(ctx)
	if pod != nil && relatedTo(pod) != "" && relatedTo(pod) != q.name() && relatedTo(pod) != relatedTo(q.pod) {
		return nil, apierrors.NewConflict(corev1.Resource("pods"), pod.Name, fmt.Errorf("PodUnavailableBudget %s is asked, and the pod names %s now", q.name(), relatedTo(pod)))
	}
	return pod, err
}

// freeItself tells whether an operation is allowed by what the pod says, whatever the budget.
func freeItself(pod *corev1.Pod, operation v1alpha1.PubOperation) bool {
	return pod.Annotations[v1alpha1.PodPubNoProtectionAnnotation] == "true" ||
		operation != v1alpha1.PubEvictOperation && (relatedTo(pod) == "" || !budget.Ready(pod))
}

// named tells whether a pod names a budget that is there and about it. (PUB-20)
func (g *Guard) named(ctx context.Context, pod *corev1.Pod) (bool, error) {
	key := types.NamespacedName{Namespace: pod.Namespace, Name: relatedTo(pod)}
	if key.Name == "" {
		return false, nil
	}
	b, read, err := g.budget(ctx, key, false)
	if err == nil && !read && !budget.MayCount(b, pod) {
		b, _, err = g.budget(ctx, key, true)
	}
	return b != nil && budget.MayCount(b, pod), err
}

// mayBeOf names the budgets that a pod may be told of that names none. (PUB-14.1)
func (g *Guard) mayBeOf(pod *corev1.Pod) (names []string, err error) {
	all, err := g.options.Budgets.Namespace(pod.Namespace).List(labels.Everything())
	for _, b := range all {
		if budget.MayMatch(b, pod) {
			names = append(names, b.Name)
		}
	}
	slices.Sort(names)
	return names, err
}

// budget returns the newest state of a budget that is known, and whether the API server was asked for it. It is asked
// if that is wanted, and if the cache, which may be behind, has none. Nil if there is none.
func (g *Guard) budget(ctx context.Context, key types.NamespacedName, live bool) (b *v1alpha1.PodUnavailableBudget, read bool, err error) {
	cached, err := apiwriter.Found(g.options.Budgets.Namespace(key.Namespace).Get(key.Name))
	if err != nil {
		return nil, false, err
	}
	last := g.last.get(key)
	if cached != nil && last != nil {
		order, err := resourceversion.CompareResourceVersion(cached.ResourceVersion, last.ResourceVersion)
		if err != nil || order >= 0 {
			g.last.forget(key)
			last = nil
		}
	}
	if !live && cached != nil {
		return cmp.Or(last, cached), false, nil
	}
	b, err = apiwriter.Found(g.options.Availability.PodUnavailableBudgets(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{}))
	switch {
	case err != nil:
		return nil, true, err
	case b == nil:
		g.last.forget(key)
	default:
		g.last.set(key, b, g.options.Clock.Now())
	}
	return b, true, nil
}

// book writes the status, if the budget is as it was read.
func (g *Guard) book(ctx context.Context, b *v1alpha1.PodUnavailableBudget, status *v1alpha1.PodUnavailableBudgetStatus) error {
	data, err := apply.StatusPatch(apply.Observed{UID: b.UID, ResourceVersion: b.ResourceVersion}, &b.Status, status)
	if err != nil {
		return err
	}
	written, err := g.options.Availability.PodUnavailableBudgets(b.Namespace).Patch(ctx, b.Name, types.MergePatchType, data, metav1.PatchOptions{}, "status")
	if err != nil {
		return err
	}
	g.last.set(types.NamespacedName{Namespace: b.Namespace, Name: b.Name}, written, g.options.Clock.Now())
	return nil
}

// Rules returns the RBAC rules that a Guard needs, and none beyond. Reading the cache of budgets counts. Rules of workloads and
// SidecarSets include them, if their option Budget is a Guard.
func (g *Guard) Rules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		manifests.Rule(v1alpha1.GroupName, "podunavailablebudgets", "get list watch"),
		manifests.Rule(v1alpha1.GroupName, "podunavailablebudgets/status", "patch"),
	}
}

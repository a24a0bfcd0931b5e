// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	availabilityv1alpha1 "github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/lifecycle"
)

// budgetOf names the budget of a pod; zero if the pod names none.
func budgetOf(pod *corev1.Pod) types.NamespacedName {
	name := pod.Annotations[availabilityv1alpha1.RelatedPubAnnotation]
	if name == "" {
		return types.NamespacedName{}
	}
	return types.NamespacedName{Namespace: pod.Namespace, Name: name}
}

// Budget tells whether an update may take a pod out of service now. An error allows nothing.
type Budget interface {
	AllowUpdate(ctx context.Context, pod *corev1.Pod) (bool, error)
}

// mayUpdate asks the budget, about one pod at a time, in the order of the plan. After it has refused one it is asked
// only about pods of other budgets, and about those that are not ready. Pods that the update repairs would wait for
// the one that has to wait for them. After an error it is asked no more. (CT-10)
func (a *Applier[S]) mayUpdate(ctx context.Context, turns *turns, i int, pod *corev1.Pod) (bool, error) {
	defer turns.end(i)
	if a.Budget == nil {
		return true, nil
	}
	if err := turns.wait(ctx, i); err != nil {
		return false, err
	}
	budget := budgetOf(pod)
	if a.unknown || a.exhausted[budget] && lifecycle.Ready(pod) {
		return false, nil
	}
	allowed, err := a.Budget.AllowUpdate(ctx, pod)
	if a.unknown = err != nil; a.unknown {
		return allowed, err
	}
	a.Sync.denials.answered(a.Sync.Workload, pod, a.Now, allowed)
	if !allowed {
		if a.exhausted == nil {
			a.exhausted = map[types.NamespacedName]bool{}
		}
		a.exhausted[budget] = true
	}
	return allowed, nil
}

// denials remembers which updates budgets have denied, so that the next reconcile asks about other pods first. (CT-10) The
// zero value is ready for use, by several goroutines.
type denials struct {
	lock  sync.Mutex
	known map[types.NamespacedName]*denied
}

// denied are the denials of one workload, until its spec changes.
type denied struct {
	refusal
	budgets map[types.NamespacedName]time.Time // the last time, by budget
	pods    map[types.UID]denial
}

// denial is the last one about a pod. It tells nothing of the pod when that has become ready, or is ready no more.
type denial struct {
	ready bool
	at    time.Time
}

// answered takes note of what a budget said about a pod.
func (d *denials) answered(workload metav1.Object, pod *corev1.Pod, now time.Time, allowed bool) {
	d.lock.Lock()
	defer d.lock.Unlock()
	key, budget, ready := keyOf(workload), budgetOf(pod), lifecycle.Ready(pod)
	known := d.known[key]
	if known == nil || !known.is(workload) {
		if allowed {
			return
		}
		if d.known == nil {
			d.known = map[types.NamespacedName]*denied{}
		}
		known = &denied{refusal: refusalOf(workload), budgets: map[types.NamespacedName]time.Time{}, pods: map[types.UID]denial{}}
		d.known[key] = known
	}
	switch {
	case !allowed:
		known.pods[pod.UID] = denial{ready: ready, at: now}
		if budget.Name != "" && ready {
			known.budgets[budget] = now
		}
	default:
		delete(known.pods, pod.UID)
		if ready { // it has room again; otherwise it does not protect the pod
			delete(known.budgets, budget)
		}
	}
}

// of returns the pods of a workload that come after the others. It forgets pods that are gone, and budgets that protect
// none of the others.
func (d *denials) of(workload metav1.Object, pods []*corev1.Pod) map[types.UID]rollout.Denial {
	d.lock.Lock()
	defer d.lock.Unlock()
	key := keyOf(workload)
	known := d.known[key]
	if known == nil || !known.is(workload) {
		delete(d.known, key)
		return nil
	}
	all, kept := map[types.UID]rollout.Denial{}, &denied{refusal: known.refusal, budgets: map[types.NamespacedName]time.Time{}, pods: map[types.UID]denial{}}
	for _, pod := range pods {
		budget, ready := budgetOf(pod), lifecycle.Ready(pod)
		own, asked := known.pods[pod.UID]
		since, exhausted := known.budgets[budget]
		if asked = asked && own.ready == ready; asked {
			kept.pods[pod.UID] = own
		}
		if exhausted {
			kept.budgets[budget] = since
		}
		if exhausted = exhausted && ready; !asked && !exhausted {
			continue
		}
		if !exhausted {
			since = own.at
		}
		all[pod.UID] = rollout.Denial{Budget: budget.Name, Since: since, Asked: own.at}
	}
	if len(all) == 0 {
		delete(d.known, key)
		return nil
	}
	d.known[key] = kept
	return all
}

// forget drops what is remembered of a workload that no longer exists.
func (d *denials) forget(workload types.NamespacedName) {
	d.lock.Lock()
	defer d.lock.Unlock()
	delete(d.known, workload)
}

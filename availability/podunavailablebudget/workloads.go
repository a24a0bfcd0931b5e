// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/availability/budget"
	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/workload"
)

// nodeKind is the kind of what controls static pods.
var nodeKind = schema.GroupKind{Kind: "Node"}

// workloadOf reads what a budget has to know of an object of a cache; nil for what is no workload.
func workloadOf(object any) *budget.Workload {
	if w := workload.Of(object); w != nil {
		return newWorkload(w)
	}
	return nil
}

func newWorkload(w *workload.Workload) *budget.Workload {
	return &budget.Workload{
		GroupKind: w.GroupKind(), Name: w.Name, UID: w.UID, Replicas: w.Replicas, Selector: w.Selector, Deleting: w.Deleting, Controller: w.Controller,
	}
}

// readWorkload returns a workload, nil if there is none of that name. If known is false, no cache has the kind.
func readWorkload(reader podwright.Reader, namespace string, kind schema.GroupKind, name string) (w *budget.Workload, known bool, err error) {
	object, known, err := caches.Find(reader, resourceOf(kind), namespace, name)
	return workloadOf(object), known, err
}

// ownerAwaited is how long a pod may be ahead of what controls it: from then on, what no cache has is gone. (PUB-3)
const ownerAwaited = time.Minute

// finder collects the workloads that a budget has to know.
type finder struct {
	reader    podwright.Reader
	scales    *scaleCache
	now       time.Time
	budget    *v1alpha1.PodUnavailableBudget
	owners    map[types.UID]*owner // what controls the pods
	workloads budget.Workloads
	again     time.Duration // after which to look again; 0 if events tell
	unknown   error         // why some are not known
}

// owner is what controls pods, or what controls that.
type owner struct {
	ref   *metav1.OwnerReference
	pods  int
	since time.Time // of the oldest pod
}

// workloadsFor returns the workloads that a budget has to know, of the pods that it may be about. It also returns
// when to look at them again, and why some are not known. (PUB-2 to PUB-4, PUB-23)
func (r *reconciler) workloadsFor(ctx context.Context, b *v1alpha1.PodUnavailableBudget, pods []*budget.Pod, now time.Time) (budget.Workloads, time.Duration, error) {
	f := &finder{reader: r.options.Reader, scales: r.scales, now: now, budget: b, owners: map[types.UID]*owner{}, workloads: budget.Workloads{}}
	for _, pod := range pods {
		if ref := pod.Controller; ref != nil {
			f.add(ref, 1, pod.CreationTimestamp.Time)
		}
	}
	// What controls the pods first: how many of them there are decides whether what is known of the others is enough.
	above := maps.Clone(f.owners)
	for range workload.MostOwners {
		if above = f.find(ctx, above); len(above) == 0 {
			break
		}
	}
	if b.Spec.TargetReference != nil {
		f.target(ctx)
	}
	return f.workloads, f.again, f.unknown
}

// add notes pods of an owner.
func (f *finder) add(ref *metav1.OwnerReference, pods int, since time.Time) *owner {
	o := f.owners[ref.UID]
	if o == nil {
		o = &owner{ref: ref, since: since}
		f.owners[ref.UID] = o
	}
	if o.pods += pods; since.Before(o.since) {
		o.since = since
	}
	return o
}

// find finds owners, and returns what controls these. What no cache has is read for pods that a selector
// selects; a targetRef is compared with owner references.
func (f *finder) find(ctx context.Context, owners map[types.UID]*owner) (above map[types.UID]*owner) {
	above = map[types.UID]*owner{}
	selected := f.budget.Spec.TargetReference == nil
	for _, uid := range slices.Sorted(maps.Keys(owners)) {
		o := owners[uid]
		gv, err := schema.ParseGroupVersion(o.ref.APIVersion)
		if err != nil {
			continue
		}
		kind := gv.WithKind(o.ref.Kind)
		w, known, err := readWorkload(f.reader, f.budget.Namespace, kind.GroupKind(), o.ref.Name)
		switch {
		case err == nil && known:
			w = f.ofOwner(w, kind.GroupKind(), o)
		case err == nil && selected:
			w, err = f.foreign(ctx, kind, o)
		}
		if f.fails(err, kind.GroupKind(), o.ref.Name); w == nil {
			continue
		}
		f.workloads[uid] = w
		if ref := w.Controller; ref != nil && (!selected || kind.GroupKind() == workload.ReplicaSets) && f.workloads[ref.UID] == nil {
			above[ref.UID] = f.add(ref, o.pods, o.since)
		}
	}
	return above
}

// ofOwner returns what a cache has of an owner; nil if that may be behind. One that the cache still lacks after
// a while is gone.
func (f *finder) ofOwner(w *budget.Workload, kind schema.GroupKind, o *owner) *budget.Workload {
	if w != nil && w.UID == o.ref.UID {
		return w
	}
	if left := o.since.Add(ownerAwaited).Sub(f.now); left > 0 {
		f.lookAfter(left)
		return nil
	}
	return absent(kind, o.ref)
}

// absent is a workload that is not there any more.
func absent(kind schema.GroupKind, ref *metav1.OwnerReference) *budget.Workload {
	return &budget.Workload{GroupKind: kind, Name: ref.Name, UID: ref.UID, Deleting: true}
}

// foreign reads an owner that no cache has; nil if it cannot be told what it wants. (PUB-23)
func (f *finder) foreign(ctx context.Context, kind schema.GroupVersionKind, o *owner) (*budget.Workload, error) {
	if f.scales == nil || kind.GroupKind() == nodeKind {
		return nil, nil
	}
	l, again, err := f.scales.look(ctx, f.budget.Namespace, kind, o.ref.Name, o.ref.UID, o.pods)
	if err == nil || errors.Is(err, ErrNotRead) {
		f.lookAfter(again)
	}
	switch {
	case errors.Is(err, ErrNotRead):
		return nil, nil
	case err != nil || !l.enough(o.ref.UID, o.pods):
		return nil, err
	case l.workload == nil || l.workload.UID != o.ref.UID:
		return absent(kind.GroupKind(), o.ref), nil
	}
	return l.workload, nil
}

// target finds the workload that a budget names.
func (f *finder) target(ctx context.Context) {
	ref := f.budget.Spec.TargetReference
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil {
		return // it names nothing
	}
	kind := schema.GroupKind{Group: gv.Group, Kind: ref.Kind}
	w, known, err := readWorkload(f.reader, f.budget.Namespace, kind, ref.Name)
	switch {
	case err != nil || known:
	case f.scales == nil:
		err = fmt.Errorf("nothing reads the kind %s that targetRef names: give Options.Scales", kind)
	default:
		w, err = f.foreignTarget(ctx, gv.WithKind(ref.Kind), ref.Name)
	}
	if f.fails(err, kind, ref.Name); w != nil {
		f.workloads[w.UID] = w
	}
}

// foreignTarget reads the workload that a budget names and no cache has. One that is not there is gone for the pods that name it. (PUB-3, PUB-23)
func (f *finder) foreignTarget(ctx context.Context, kind schema.GroupVersionKind, name string) (*budget.Workload, error) {
	var named []*owner
	pods := 0
	for _, o := range f.owners {
		if o.ref.Name == name && schema.FromAPIVersionAndKind(o.ref.APIVersion, o.ref.Kind).GroupKind() == kind.GroupKind() {
			named, pods = append(named, o), pods+o.pods
		}
	}
	l, again, err := f.scales.look(ctx, f.budget.Namespace, kind, name, "", pods)
	switch {
	case errors.Is(err, ErrNotRead):
		return nil, fmt.Errorf("nothing reads the kind %s that targetRef names: allow Options.Scales to", kind.GroupKind())
	case err != nil:
		return nil, err
	}
	f.lookAfter(again)
	switch {
	case !l.enough("", pods):
		return nil, nil
	case l.workload != nil:
		return l.workload, nil
	}
	for _, o := range named {
		if gone := f.ofOwner(nil, kind.GroupKind(), o); gone != nil {
			f.workloads[o.ref.UID] = gone
		}
	}
	return nil, nil
}

func (f *finder) lookAfter(again time.Duration) {
	if again > 0 && (f.again == 0 || again < f.again) {
		f.again = again
	}
}

// fails notes why a workload is not known, if it is the first.
func (f *finder) fails(err error, kind schema.GroupKind, name string) {
	if err != nil && f.unknown == nil {
		f.unknown = fmt.Errorf("read %s %s: %w", kind, name, err)
	}
}

// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/distribution/spread"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/internal/workload"
)

// spreadChanged enqueues the other WorkloadSpreads that are of the pods of one. It does so when that one appears, goes
// or names another workload: then another one may have its workload. (WS-22)
func (o *Options) spreadChanged(before, after *v1alpha1.WorkloadSpread, enqueue controller.Enqueue) {
	if before != nil && after != nil && before.UID == after.UID && (before.DeletionTimestamp == nil) == (after.DeletionTimestamp == nil) && spread.Conflict(before, after, nil) {
		return
	}
	for _, ws := range []*v1alpha1.WorkloadSpread{before, after} {
		if ws == nil {
			continue
		}
		others, err := o.othersOf(ws)
		if err != nil {
			return // the index is there since New
		}
		for _, other := range others {
			enqueue(cache.MetaObjectToName(other).AsNamespacedName())
		}
	}
}

// podChanged enqueues the WorkloadSpreads of a pod's workload, before the event or after it. Pods
// that are there at the start concern WorkloadSpreads that are there too.
func (o *Options) podChanged(before, after *corev1.Pod, enqueue controller.Enqueue) {
	if before != nil && (after == nil || controllerOf(before) != controllerOf(after)) {
		o.enqueueOf(before, enqueue)
	}
	if after != nil && (before == nil || before.UID != after.UID || !podstate.Ended(before) || !podstate.Ended(after)) {
		o.enqueueOf(after, enqueue)
	}
}

// enqueueOf enqueues the WorkloadSpreads that name what controls an object, or what controls that.
func (o *Options) enqueueOf(object metav1.Object, enqueue controller.Enqueue) {
	spreads, err := o.spreads(object.GetNamespace())
	if err != nil || len(spreads) == 0 {
		return // the index is there since New
	}
	names := o.above(object)
	for _, ws := range spreads {
		if targetsAny(ws, names) {
			enqueue(cache.MetaObjectToName(ws).AsNamespacedName())
		}
	}
}

func targetsAny(ws *v1alpha1.WorkloadSpread, names []workload.Named) bool {
	return slices.ContainsFunc(names, func(n workload.Named) bool { return spread.Targets(ws, n.GroupKind, n.Name) })
}

// workloadChanged enqueues the WorkloadSpreads that name a workload, or what controls it, before the
// event or after it. It also enqueues those that name what it controls: others may have their pods. (WS-22)
func (o *Options) workloadChanged(e controller.Event, enqueue controller.Enqueue) {
	if e.Before != nil && e.After != nil && o.sameWants(e.Before, e.After) {
		o.pathsChanged(o.workloadOf(e.Before), o.workloadOf(e.After), enqueue)
		return
	}
	for _, object := range []metav1.Object{e.Before, e.After} {
		w := o.workloadOf(object)
		if w == nil {
			continue
		}
		spreads, err := o.spreads(object.GetNamespace())
		if err != nil || len(spreads) == 0 {
			continue // the index is there since New
		}
		named := workload.Named{GroupKind: w.GroupKind, Name: w.Name}
		names := append(o.above(object), named)
		for _, ws := range spreads {
			if targetsAny(ws, names) || slices.Contains(o.aboveTarget(ws), named) {
				enqueue(cache.MetaObjectToName(ws).AsNamespacedName())
			}
		}
	}
}

// pathsChanged enqueues the WorkloadSpreads that read how many pods a workload wants at paths, if something else stands there now. (WS-34)
func (o *Options) pathsChanged(before, after *cached, enqueue controller.Enqueue) {
	if before == nil || after == nil {
		return
	}
	spreads, err := o.spreads(after.object.(metav1.Object).GetNamespace())
	if err != nil {
		return // the index is there since New
	}
	for _, ws := range spreads {
		if len(spread.ReplicasPaths(ws)) == 0 || !spread.Targets(ws, after.GroupKind, after.Name) {
			continue
		}
		if b, a := before.seenBy(ws), after.seenBy(ws); b.Wants() != a.Wants() || fmt.Sprint(b.Unknown) != fmt.Sprint(a.Unknown) {
			enqueue(cache.MetaObjectToName(ws).AsNamespacedName())
		}
	}
}

// sameWants tells whether a workload means the same to WorkloadSpreads before and after an event.
func (o *Options) sameWants(before, after metav1.Object) bool {
	b, a := o.workloadOf(before), o.workloadOf(after)
	if b == nil || a == nil {
		return b == a
	}
	return b.UID == a.UID && b.Wants() == a.Wants() && fmt.Sprint(b.Unknown) == fmt.Sprint(a.Unknown) && b.Deleting == a.Deleting && b.Revision == a.Revision &&
		before.GetAnnotations()[caches.DeploymentRevision] == after.GetAnnotations()[caches.DeploymentRevision] &&
		before.GetLabels()[podTemplateHash] == after.GetLabels()[podTemplateHash] && controllerOf(before) == controllerOf(after)
}

// podTemplateHash is the label by which the pods of a ReplicaSet are known.
const podTemplateHash = "pod-template-hash"

// above names what controls an object, and what controls that, as far as the caches know.
func (o *Options) above(object metav1.Object) []workload.Named {
	return workload.Above(object, func(kind schema.GroupKind, name string) (types.UID, *metav1.OwnerReference, bool) {
		w, _, err := o.workload(object.GetNamespace(), kind, name)
		if w == nil || err != nil {
			return "", nil, false
		}
		return w.UID, w.Controller, true
	})
}

// aboveTarget names what controls the workload of a WorkloadSpread, and what controls that, as far as the caches know.
func (o *Options) aboveTarget(ws *v1alpha1.WorkloadSpread) []workload.Named {
	kind, _ := spread.KindOf(ws)
	if kind.Kind == "" {
		return nil
	}
	object, _, err := caches.Find(o.Reader, o.resourceOf(kind), ws.Namespace, ws.Spec.TargetReference.Name)
	if w := o.workloadOf(object); err == nil && w != nil {
		return o.above(w.object.(metav1.Object))
	}
	return nil
}

// controllerOf is the UID of the controller of an object; empty for none.
func controllerOf(object metav1.Object) types.UID {
	if ref := metav1.GetControllerOfNoCopy(object); ref != nil {
		return ref.UID
	}
	return ""
}

// controls tells whether an object has a UID as its controller.
func controls(owner types.UID, object metav1.Object) bool { return controllerOf(object) == owner }

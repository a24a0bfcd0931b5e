// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"

	"github.com/podwright/podwright/distribution/spread"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/workload"
)

// maxAsk is how long a Placer asks the API server at most for owners that its caches lack. (WS-9)
const maxAsk = 2 * time.Second

// target is what a pod is placed by.
type target struct {
	spread     *v1alpha1.WorkloadSpread
	workload   *cached // nil if it is not known
	ownerWants *int32
}

// link is an owner of a pod, or of what controls it.
type link struct {
	ref      *metav1.OwnerReference
	workload *cached // nil if it is not known
}

// find finds the WorkloadSpread of a pod, nil for none. It is behind if the workload of the pod is not known. It is also
// behind if what controls the pod is not known, and may be of a workload that is spread. With live, the API server is asked
// for owners that the caches lack. (WS-1, WS-9, WS-35)
func (p *Placer) find(ctx context.Context, pod *corev1.Pod, live bool) (found *target, behind bool, err error) {
	spreads, err := p.options.spreads(pod.Namespace)
	if err != nil || len(spreads) == 0 {
		return nil, false, err
	}
	links, err := p.chain(pod.Namespace, metav1.GetControllerOfNoCopy(pod), nil)
	if err != nil {
		return nil, false, err
	}
	if found = p.match(links, spreads); found == nil && live && p.mayBelong(links, spreads) {
		ctx, cancel := context.WithTimeout(ctx, maxAsk)
		defer cancel()
		if links, err = p.chain(pod.Namespace, metav1.GetControllerOfNoCopy(pod), ctx); err != nil {
			return nil, false, err
		}
		found = p.match(links, spreads)
	}
	if found != nil {
		return found, found.workload == nil, nil
	}
	return nil, p.mayBelong(links, spreads), nil
}

// match finds the WorkloadSpread that has an owner, the nearest one to the pod. (WS-22)
func (p *Placer) match(links []link, spreads []*v1alpha1.WorkloadSpread) *target {
	for i, l := range links {
		ws := spread.Holder(spreads, func(ws *v1alpha1.WorkloadSpread) bool { return spread.Targets(ws, groupKind(l.ref), l.ref.Name) })
		if ws == nil || ws.DeletionTimestamp != nil || !p.known().spreadsKind(groupKind(l.ref)) || p.isTaken(ws, links[i+1:], spreads) {
			continue
		}
		return &target{spread: ws, workload: l.workload, ownerWants: ownerWants(links[:i])}
	}
	return nil
}

// ownerWants is how many pods the nearest of the owners below a workload wants; nil if that is not known, or there is none.
func ownerWants(below []link) *int32 {
	if len(below) == 0 || below[0].workload.Unknown != nil {
		return nil
	}
	return new(below[0].workload.Wants())
}

// refresh reads anew what the workload of a pod wants: nothing, if the caches do not show it any more. (WS-1, WS-7.2)
func (p *Placer) refresh(pod *corev1.Pod, t *target) {
	if t.workload == nil {
		return
	}
	links, _ := p.chain(pod.Namespace, metav1.GetControllerOfNoCopy(pod), nil) // what cannot be read is not shown
	for i, l := range links {
		if l.workload != nil && l.workload.UID == t.workload.UID {
			t.workload, t.ownerWants = l.workload, ownerWants(links[:i])
			return
		}
	}
	gone := *t.workload
	gone.Deleting = true
	t.workload = &gone
}

// isTaken tells whether another WorkloadSpread has the workload of one, above which are these owners. The caches may not show them
// yet. (WS-22)
func (p *Placer) isTaken(ws *v1alpha1.WorkloadSpread, owners []link, spreads []*v1alpha1.WorkloadSpread) bool {
	o, names := p.known(), make([]workload.Named, len(owners))
	for i, l := range owners {
		names[i] = workload.Named{GroupKind: groupKind(l.ref), Name: l.ref.Name}
	}
	above := func(of *v1alpha1.WorkloadSpread) []workload.Named {
		if of == ws {
			return names
		}
		return o.aboveTarget(of)
	}
	return ws != spread.Holder(spreads, func(other *v1alpha1.WorkloadSpread) bool {
		kind, _ := spread.KindOf(other)
		return other == ws || o.spreadsKind(kind) && spread.Conflict(ws, other, above)
	})
}

// mayBelong tells whether what controls a pod is not known to the end, and may be of a workload that is spread.
func (p *Placer) mayBelong(links []link, spreads []*v1alpha1.WorkloadSpread) bool {
	last := links[len(links)-1]
	if last.workload != nil || p.known().resourceOf(groupKind(last.ref)) == "" {
		return false
	}
	for _, ws := range spreads {
		of, builtIn := spread.KindOf(ws)
		switch {
		case ws.DeletionTimestamp != nil:
		case !builtIn && p.known().spreadsKind(of):
			return true
		case of == spread.Deployments && groupKind(last.ref) == spread.ReplicaSets && strings.HasPrefix(last.ref.Name, ws.Spec.TargetReference.Name+"-"):
			return true
		}
	}
	return false
}

// chain are what controls a pod, and what controls that, as far as known: at least one. With a context, the API server
// is asked for what the caches lack.
func (p *Placer) chain(namespace string, ref *metav1.OwnerReference, ask context.Context) (links []link, err error) {
	for ref != nil && len(links) < workload.MostOwners {
		w, err := p.owner(namespace, ref)
		if err == nil && w == nil && ask != nil {
			w, err = p.askFor(ask, namespace, ref)
		}
		if err != nil {
			return nil, fmt.Errorf("read %s %s: %w", ref.Kind, ref.Name, err)
		}
		links = append(links, link{ref, w})
		if w == nil {
			break
		}
		ref = w.Controller
	}
	return links, nil
}

// owner reads the object of an owner reference; nil if it is not known, or it is another one.
func (p *Placer) owner(namespace string, ref *metav1.OwnerReference) (*cached, error) {
	w, _, err := p.known().workload(namespace, groupKind(ref), ref.Name)
	if err != nil || w == nil || w.UID != ref.UID {
		return nil, err
	}
	return w, nil
}

// askFor asks the API server for the object of an owner reference; nil if it is not there, or may not be read.
func (p *Placer) askFor(ctx context.Context, namespace string, ref *metav1.OwnerReference) (*cached, error) {
	o, kind := p.known(), groupKind(ref)
	var object runtime.Object
	var err error
	if c := o.custom(kind); c != nil && o.Dynamic != nil {
		object, err = oneOf(ctx, ref.Name, o.Dynamic.Resource(c.groupResource().WithVersion(c.Kind.Version)).Namespace(namespace).List)
	} else {
		object, err = readTarget(ctx, o.Kubernetes, o.Workloads, kind, namespace, ref.Name)
	}
	if apierrors.IsForbidden(err) {
		klog.FromContext(ctx).Error(err, "A pod is created without a subset, because its owner may not be read", "kind", kind, "name", ref.Name)
		return nil, nil
	}
	if w := o.workloadOf(object); err == nil && w != nil && w.UID == ref.UID {
		return w, nil
	}
	return nil, err
}

func groupKind(ref *metav1.OwnerReference) schema.GroupKind {
	return schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind()
}

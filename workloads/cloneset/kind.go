// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Resource names a cache: ResourceCloneSets and its like.
type Resource = podwright.Resource

// The caches that a Reconciler reads.
const (
	ResourceCloneSets Resource = "clonesets"
	ResourcePods      Resource = caches.Pods
	ResourceClaims    Resource = caches.Claims
	ResourceRevisions Resource = caches.Revisions
)

// The fields that a plan reads of what a CloneSet owns.
const (
	podFields = controller.Labels | controller.Annotations | controller.Finalizers | controller.NodeName | controller.Phase |
		controller.Images | controller.Containers | controller.ObservedGeneration | controller.Ready | controller.ContainersReady |
		controller.InPlaceUpdateReady | controller.KruisePodReady | controller.ReadinessGates
	resizeFields   = controller.Resize // where pods are resized
	claimFields    = controller.Labels
	revisionFields = controller.Labels | controller.RevisionData
)

// reads lists what a CloneSet's plan depends on.
func (o *Options) reads() []controller.Read {
	ofPods := podFields
	if o.Features.InPlaceResize {
		ofPods |= resizeFields
	}
	core, owner := caches.NewInformers(o.Kubernetes, o.Namespace), v1alpha1.SchemeGroupVersion.WithKind("CloneSet").GroupKind()
	reads := []controller.Read{
		{Resource: ResourceCloneSets, Live: apiwriter.Typed(o.Workloads.CloneSets), Informer: &o.CloneSets, Make: func() cache.SharedIndexInformer {
			return client.NewCloneSetInformer(o.Workloads, o.Namespace, 0, cache.Indexers{})
		}, Fields: controller.Workload, Itself: true},
		{Resource: ResourcePods, Live: apiwriter.Pods(o.Kubernetes), Informer: &o.Pods, Make: core.Pods,
			Index: caches.AddOwnerIndex, Fields: ofPods, Owner: owner, Collect: true},
		{Resource: ResourceClaims, Live: apiwriter.Claims(o.Kubernetes), Informer: &o.Claims, Make: core.Claims,
			Index: caches.AddOwnerIndex, Fields: claimFields, Owner: owner, Collect: true},
		{Resource: ResourceRevisions, Live: apiwriter.Revisions(o.Kubernetes), Informer: &o.Revisions, Make: core.Revisions,
			Index: caches.AddOwnerIndex, Fields: revisionFields, Owner: owner, Collect: true},
	}
	if !o.NoNodes {
		reads = append(reads, controller.Read{Resource: caches.Nodes, Informer: &o.Nodes, Make: core.Nodes})
	}
	return reads
}

// newReconciler describes CloneSets to the shell.
func newReconciler(o *Options) *Reconciler {
	r := &Reconciler{options: *o, writer: newWriter(o)}
	r.shell = controller.NewReconciler(controller.Kind[Snapshot, Plan]{
		Package: "cloneset", Name: "cloneset-controller", Options: controller.Options{
			Workers: o.Workers, Clock: o.Clock, Metrics: o.Metrics, QueueMetrics: o.QueueMetrics, AllowStaleReads: o.AllowStaleReads},
		Reads: o.reads(), Synced: o.Reader.SyncedResourceVersion,
		Observe: r.observe, Plan: NewPlan, Apply: r.apply,
		Writes: &r.writer.Own, WroteStatus: r.writer.WroteStatus, Forget: r.writer.Forget,
		Shows: func(s *Snapshot, resource Resource) func(string) bool {
			switch resource {
			case ResourcePods:
				return controller.Holds(s.Pods)
			case ResourceClaims:
				return controller.Holds(s.Claims)
			}
			return controller.HoldsNone
		},
	})
	return r
}

// observe reads everything that a plan for the CloneSet depends on. It returns
// nil when the CloneSet does not exist.
func (r *Reconciler) observe(_ context.Context, key types.NamespacedName) (*Snapshot, error) {
	set, err := r.options.Reader.CloneSet(key.Namespace, key.Name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read CloneSet %s: %w", key, err)
	}
	s := &Snapshot{Set: set, Now: r.shell.Clock.Now(), Features: r.options.Features}
	if s.Pods, err = r.options.Reader.Pods(key.Namespace, set.UID); err != nil {
		return nil, fmt.Errorf("read the pods of CloneSet %s: %w", key, err)
	}
	if s.Claims, err = r.options.Reader.Claims(key.Namespace, set.UID); err != nil {
		return nil, fmt.Errorf("read the claims of CloneSet %s: %w", key, err)
	}
	s.Refused = r.writer.Refused(set, s.Pods, s.Now)
	selector, err := s.selector()
	if err != nil {
		selector = labels.Nothing() // the plan reports it
	}
	if s.Revisions, err = r.options.Reader.Revisions(key.Namespace, set.UID, selector); err != nil {
		return nil, fmt.Errorf("read the revisions of CloneSet %s: %w", key, err)
	}
	if len(set.Spec.Template.Spec.TopologySpreadConstraints) > 0 {
		s.NodeLabels = map[string]map[string]string{}
		for _, pod := range s.Pods {
			s.NodeLabels[pod.Spec.NodeName] = r.options.Reader.NodeLabels(pod.Spec.NodeName)
		}
		delete(s.NodeLabels, "") // not scheduled yet
	}
	return s, r.observeJobs(s)
}

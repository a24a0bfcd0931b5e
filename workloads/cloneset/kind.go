// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/nodefit"
	"github.com/podwright/podwright/internal/workload"
	"github.com/podwright/podwright/lifecycle"
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
		controller.InPlaceUpdateReady | controller.KruisePodReady | controller.ReadinessGates | controller.Trouble
	resizeFields   = controller.Resize // if pods are resized
	claimFields    = controller.Labels
	revisionFields = controller.Labels | controller.RevisionData
	nodeFields     = controller.Unreachable
)

// reads lists what a CloneSet's plan depends on.
func (o *Options) reads() []controller.Read {
	ofPods := podFields
	if o.Features.InPlaceResize {
		ofPods |= resizeFields
	}
	core, owner := controller.NewCore(o.Kubernetes, o.Namespace), v1alpha1.SchemeGroupVersion.WithKind("CloneSet").GroupKind()
	reads := []controller.Read{
		{Resource: ResourceCloneSets, Object: &v1alpha1.CloneSet{}, LiveReader: apiwriter.Typed(o.Workloads.CloneSets), Informer: &o.CloneSets,
			MakeInformer: controller.Maker(client.NewCloneSetInformer, o.Workloads, o.Namespace), Fields: controller.Workload, IsReconciled: true},
		core.Pods(&o.Pods, ofPods).OwnedBy(owner),
		core.Claims(&o.Claims, claimFields).OwnedBy(owner),
		core.Revisions(&o.Revisions, revisionFields).OwnedBy(owner),
	}
	if !o.NoNodes {
		reads = append(reads, core.Nodes(&o.Nodes, nodeFields).Concerning(nodeLost(o)))
	}
	return reads
}

// reconciler is what the steps of a reconcile share.
type reconciler struct {
	options Options
	writer  *apply.Writer
	unused  apiwriter.Last[map[string]bool] // see Snapshot.Unused
	began   atomic.Pointer[time.Time]       // when the first reconcile did, see reusedBy
}

// kind describes CloneSets to the shell.
func (o *Options) kind() controller.Definition[Snapshot, Plan] {
	r := &reconciler{options: *o, writer: newWriter(o)}
	return controller.Definition[Snapshot, Plan]{
		Name: component, Self: r,
		Observe: r.observe, Plan: NewPlan, Apply: r.apply,
		Writer: r.writer, Forget: r.unused.Forget,
		SnapshotHolds: func(s *Snapshot, resource Resource) func(string) bool {
			switch resource {
			case ResourcePods:
				return controller.Holds(s.Pods)
			case ResourceClaims:
				return controller.Holds(s.Claims)
			}
			return controller.HoldsNone
		},
	}
}

// observe reads everything that a plan for the CloneSet depends on. It returns
// nil when the CloneSet does not exist.
func (r *reconciler) observe(_ context.Context, key types.NamespacedName) (*Snapshot, error) {
	set, err := caches.Object[v1alpha1.CloneSet](r.options.Reader, ResourceCloneSets, "CloneSet", key)
	if set == nil || err != nil {
		return nil, err
	}
	s := &Snapshot{Set: set, Unused: r.unused.Get(key), Now: r.options.Clock.Now(), Features: r.options.Features}
	if s.Pods, err = caches.ControlledBy[*corev1.Pod](r.options.Reader, ResourcePods, key.Namespace, set.UID); err != nil {
		return nil, fmt.Errorf("read the pods of CloneSet %s: %w", key, err)
	}
	if s.Claims, err = caches.OwnedBy[*corev1.PersistentVolumeClaim](r.options.Reader, ResourceClaims, key.Namespace, set.UID); err != nil {
		return nil, fmt.Errorf("read the claims of CloneSet %s: %w", key, err)
	}
	s.Refused, s.HeldSince = r.writer.Refused(set, s.Pods, s.Now), r.writer.HeldSince(set)
	selector, err := s.selector()
	if err != nil {
		selector = labels.Nothing() // the plan reports it
	}
	if s.Revisions, err = caches.RevisionsOf(r.options.Reader, key.Namespace, set.UID, selector); err != nil {
		return nil, fmt.Errorf("read the revisions of CloneSet %s: %w", key, err)
	}
	if len(set.Spec.Template.Spec.TopologySpreadConstraints) > 0 {
		s.NodeLabels = map[string]map[string]string{}
	}
	r.observeNodes(s)
	return s, r.observeJobs(s)
}

// observeNodes reads the nodes of pods as far as a plan depends on them.
func (r *reconciler) observeNodes(s *Snapshot) {
	if r.options.NoNodes { // perhaps there is no right to read them
		return
	}
	for _, pod := range s.Pods {
		name, ready := pod.Spec.NodeName, lifecycle.Ready(pod)
		if name == "" || ready && s.NodeLabels == nil {
			continue
		}
		node := caches.Node(r.options.Reader, name)
		if node == nil {
			continue
		}
		if s.NodeLabels != nil {
			s.NodeLabels[name] = node.Labels
		}
		if since, unreachable := nodefit.Unreachable(node); unreachable && !ready {
			if s.Unreachable == nil {
				s.Unreachable = map[string]time.Time{}
			}
			s.Unreachable[name] = since
		}
	}
}

// nodeLost enqueues the CloneSets that have pods on a node of which nothing is heard any more, or is heard again.
// That is seldom enough to go through all pods; an index by node would cost memory for each of them. (CS-38)
func nodeLost(o *Options) controller.Concern {
	return controller.On(func(before, after *corev1.Node, enqueue controller.Enqueue) {
		if before == nil || after == nil { // a node joins with its pods still to come, and leaves with them
			return
		}
		for _, object := range o.Pods.GetIndexer().List() {
			pod, ok := object.(*corev1.Pod)
			if !ok || pod.Spec.NodeName != after.Name {
				continue
			}
			if workload.ControllerKind(pod) == workload.CloneSets {
				enqueue(types.NamespacedName{Namespace: pod.Namespace, Name: metav1.GetControllerOfNoCopy(pod).Name})
			}
		}
	})
}

// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// The caches that a Reconciler reads.
const (
	resourceUnitedDeployments    podwright.Resource = "uniteddeployments"
	resourceStatefulSets         podwright.Resource = "statefulsets"
	resourceAdvancedStatefulSets podwright.Resource = "advancedstatefulsets"
	resourceCloneSets            podwright.Resource = "clonesets"
	resourceDeployments          podwright.Resource = "deployments"
	resourceRevisions            podwright.Resource = caches.Revisions
	resourcePods                 podwright.Resource = caches.Pods
)

// The fields that a plan reads.
const (
	setFields      = controller.Generation | controller.Status
	childFields    = controller.Owners | controller.Labels | controller.Generation | controller.Status
	revisionFields = controller.Owners | controller.Labels | controller.RevisionData
	podFields      = controller.Owners | controller.Labels | controller.Phase | controller.Ready | controller.InPlaceUpdateReady
	// scheduling is read of pods for the schedule strategy.
	scheduling = controller.NodeName | controller.Scheduled
)

// reads lists what the plan for a UnitedDeployment depends on.
func (o *Options) reads() []controller.Read {
	core := controller.NewCore(o.Kubernetes, o.Namespace)
	ofPods := podFields
	if o.Features.AdaptiveScheduling {
		ofPods |= scheduling
	}
	reads := []controller.Read{
		{Resource: resourceUnitedDeployments, Object: &v1alpha1.UnitedDeployment{}, LiveReader: apiwriter.Typed(o.Workloads.UnitedDeployments), Informer: &o.UnitedDeployments,
			MakeInformer: controller.Maker(client.NewUnitedDeploymentInformer, o.Workloads, o.Namespace), Indexes: []podwright.Index{caches.ByNamespace}, Fields: setFields, IsReconciled: true},
		core.Revisions(&o.Revisions, revisionFields).OwnedBy(kindOfSet.GroupKind()),
		core.Pods(&o.Pods, ofPods).IndexedBy(bySubsetRevision).Concerning(controller.On(o.podChanged)),
	}
	children := map[TemplateKind]controller.Read{
		StatefulSet: {Object: &appsv1.StatefulSet{}, Informer: &o.StatefulSets, MakeInformer: core.StatefulSets, Concern: controller.On(changed(o, statefulSetChild))},
		AdvancedStatefulSet: {Object: &v1beta1.StatefulSet{}, Informer: &o.AdvancedStatefulSets,
			MakeInformer: controller.Maker(client.NewStatefulSetInformer, o.Workloads, o.Namespace), Concern: controller.On(changed(o, o.Features.advancedStatefulSetChild))},
		CloneSet: {Object: &v1alpha1.CloneSet{}, Informer: &o.CloneSets,
			MakeInformer: controller.Maker(client.NewCloneSetInformer, o.Workloads, o.Namespace), Concern: controller.On(changed(o, cloneSetChild))},
		Deployment: {Object: &appsv1.Deployment{}, Informer: &o.Deployments, MakeInformer: core.Deployments, Concern: controller.On(changed(o, deploymentChild))},
	}
	targets := o.targets()
	for _, kind := range kinds {
		if t, used := targets[kind]; used {
			read := children[kind]
			read.Resource, read.LiveReader, read.Indexes, read.Fields = t.resource, t.Live, []podwright.Index{caches.ByOwner}, childFields
			reads = append(reads, read)
		}
	}
	return reads
}

// reconciler is what the steps of a reconcile share.
type reconciler struct {
	options  Options
	targets  map[TemplateKind]target
	sets     apiwriter.Live
	writer   *apply.Writer
	taken    apiwriter.Last[taken]
	problems apiwriter.Last[string] // that have been recorded
}

// taken are names that workloads of others have.
type taken struct {
	of    types.UID
	names []string
}

// kind describes UnitedDeployments to the shell.
func (o *Options) kind() controller.Definition[Snapshot, Plan] {
	r := &reconciler{options: *o, targets: o.targets(), sets: apiwriter.Typed(o.Workloads.UnitedDeployments), writer: newWriter(o)}
	return controller.Definition[Snapshot, Plan]{
		Name: component, Self: r,
		Observe: r.observe, Plan: NewPlan, Apply: r.apply,
		Writer: r.writer, Forget: r.forget,
		SnapshotHolds: (*Snapshot).shows,
	}
}

// shows tells whether the snapshot holds an object.
func (s *Snapshot) shows(resource podwright.Resource) func(string) bool {
	switch resource {
	case resourceStatefulSets:
		return controller.Holds(s.StatefulSets)
	case resourceAdvancedStatefulSets:
		return controller.Holds(s.AdvancedStatefulSets)
	case resourceCloneSets:
		return controller.Holds(s.CloneSets)
	case resourceDeployments:
		return controller.Holds(s.Deployments)
	case resourcePods:
		return controller.Holds(s.Pods)
	}
	return controller.HoldsAll
}

func (r *reconciler) forget(key types.NamespacedName) {
	r.taken.Forget(key)
	r.problems.Forget(key)
	controller.Measure(r.options.SubsetMetrics, func(m SubsetMetrics) { m.Subsets(key, nil) })
}

// observe reads everything that a plan for the UnitedDeployment depends on. It returns nil
// when the UnitedDeployment does not exist.
func (r *reconciler) observe(_ context.Context, key types.NamespacedName) (*Snapshot, error) {
	reader := r.options.Reader
	set, err := caches.Object[v1alpha1.UnitedDeployment](reader, resourceUnitedDeployments, "UnitedDeployment", key)
	if set == nil || err != nil {
		return nil, err
	}
	s := &Snapshot{Set: set, Without: r.options.Without, Features: r.options.Features, HeldSince: r.writer.HeldSince(set), Now: r.options.Clock.Now()}
	if taken := r.taken.Get(key); taken.of == set.UID {
		s.Taken = taken.names
	}
	selector, err := s.selector()
	if err != nil || selector.Empty() {
		selector = labels.Nothing() // the plan reports it
	}
	if err := r.observeWorkloads(s, selector); err != nil {
		return nil, fmt.Errorf("read the workloads of UnitedDeployment %s: %w", key, err)
	}
	if s.Revisions, err = caches.RevisionsOf(reader, key.Namespace, set.UID, selector); err != nil {
		return nil, fmt.Errorf("read the revisions of UnitedDeployment %s: %w", key, err)
	}
	for _, revision := range s.Revisions {
		pods, err := caches.Labelled[*corev1.Pod](reader, resourcePods, key.Namespace, bySubsetRevision, revisionValue(revision.Name))
		if err != nil {
			return nil, fmt.Errorf("read the pods of UnitedDeployment %s: %w", key, err)
		}
		s.Pods = append(s.Pods, pods...)
	}
	return s, nil
}

// observeWorkloads reads the workloads of the kinds that are used.
func (r *reconciler) observeWorkloads(s *Snapshot, selector labels.Selector) (err error) {
	for kind := range r.targets {
		switch kind {
		case StatefulSet:
			s.StatefulSets, err = children[*appsv1.StatefulSet](r, s, resourceStatefulSets, selector)
		case AdvancedStatefulSet:
			s.AdvancedStatefulSets, err = children[*v1beta1.StatefulSet](r, s, resourceAdvancedStatefulSets, selector)
		case CloneSet:
			s.CloneSets, err = children[*v1alpha1.CloneSet](r, s, resourceCloneSets, selector)
		case Deployment:
			s.Deployments, err = children[*appsv1.Deployment](r, s, resourceDeployments, selector)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// children returns the workloads of a kind that the UnitedDeployment controls, and those that it may adopt.
func children[T metav1.Object](r *reconciler, s *Snapshot, resource podwright.Resource, selector labels.Selector) ([]T, error) {
	return caches.ControlledOrOrphaned[T](r.options.Reader, resource, s.Set.Namespace, s.Set.UID, selector)
}

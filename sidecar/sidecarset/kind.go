// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/typedclient"
	"github.com/podwright/podwright/sidecar/client"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// The caches that a Reconciler writes to, and so waits for.
const (
	resourceSidecarSets podwright.Resource = "sidecarsets"
	resourcePods        podwright.Resource = caches.Pods
	resourceRevisions   podwright.Resource = caches.Revisions
)

const resourceNamespaces podwright.Resource = "namespaces" // which it only reads

// The fields that a plan reads of pods, revisions and namespaces.
const (
	podFields = controller.Labels | controller.Annotations | controller.NodeName | controller.Phase | controller.Images | controller.Containers | controller.NativeSidecars |
		controller.ContainerStates | controller.ObservedGeneration | controller.Ready | controller.InPlaceUpdateReady | controller.Trouble | controller.SidecarSetUpgradable
	revisionFields  = controller.Owners | controller.Labels | controller.Annotations | controller.RevisionData
	namespaceFields = controller.Labels
)

// reads lists what a SidecarSet's plan depends on.
func (o *Options) reads() []controller.Read {
	sets, namespaces := readSidecarSets(o.Sidecar, &o.SidecarSets), readNamespaces(o.Kubernetes, &o.Namespaces)
	sets.LiveReader, sets.Fields, sets.IsReconciled = apiwriter.TypedCluster(o.Sidecar.SidecarSets), controller.Workload, true
	sets.Concern = controller.On(o.setChanged)
	namespaces.Fields, namespaces.Concern, namespaces.ConcernsKnown, namespaces.CollectEvents, namespaces.SkipInitial = namespaceFields, o.namespaceChanged, true, true, true
	revisions := readRevisions(o.Kubernetes, o.namespace(), &o.Revisions)
	revisions.LiveReader = apiwriter.InNamespace(o.namespace(), apiwriter.Revisions(o.Kubernetes))
	revisions.Fields, revisions.Concern, revisions.CollectEvents = revisionFields, controller.EachOf(setsOfRevision), true
	return []controller.Read{
		sets,
		{Resource: resourcePods, Object: &corev1.Pod{}, LiveReader: apiwriter.InAnyNamespace(o.Namespace, apiwriter.Pods(o.Kubernetes)), Informer: &o.Pods, MakeInformer: caches.NewInformers(o.Kubernetes, o.Namespace).Pods,
			Indexes: []podwright.Index{caches.ByLabelPair}, Fields: podFields, Concern: controller.On(o.podChanged), ConcernsKnown: true, CollectEvents: true, SkipInitial: true},
		namespaces, revisions,
	}
}

// setChanged enqueues all SidecarSets when another one is gone: pods may still have what it has said of them. (SCS-33)
func (o *Options) setChanged(_, after *v1alpha1.SidecarSet, enqueue controller.Enqueue) {
	if after != nil || !o.Features.UpgradableCondition {
		return
	}
	for _, object := range o.SidecarSets.GetIndexer().List() {
		if set, ok := object.(*v1alpha1.SidecarSet); ok {
			enqueue(types.NamespacedName{Name: set.Name})
		}
	}
}

func (o *Options) namespace() string { return cmp.Or(o.ManagerNamespace, DefaultRevisionNamespace) }

func readSidecarSets(c client.Interface, informer *cache.SharedIndexInformer) controller.Read {
	return controller.Read{Resource: resourceSidecarSets, Object: &v1alpha1.SidecarSet{}, Informer: informer, Indexes: []podwright.Index{caches.BySelector}, MakeInformer: func() cache.SharedIndexInformer {
		return client.NewSidecarSetInformer(c, 0, cache.Indexers{})
	}}
}

func readNamespaces(c kubernetes.Interface, informer *cache.SharedIndexInformer) controller.Read {
	return controller.Read{Resource: resourceNamespaces, Object: &corev1.Namespace{}, Informer: informer, MakeInformer: caches.NewInformers(c, "").Namespaces}
}

// bySet is the index of revisions by their SidecarSet.
var bySet = caches.ByLabel(v1alpha1.SidecarSetNameLabel)

func readRevisions(c kubernetes.Interface, namespace string, informer *cache.SharedIndexInformer) controller.Read {
	return controller.Read{Resource: resourceRevisions, Object: &appsv1.ControllerRevision{}, IsPartial: true, Informer: informer, Indexes: []podwright.Index{bySet, caches.ByOwner}, MakeInformer: func() cache.SharedIndexInformer {
		named := func(o *metav1.ListOptions) { o.LabelSelector = v1alpha1.SidecarSetNameLabel }
		return typedclient.NewInformer(typedclient.Select(c.AppsV1().ControllerRevisions(namespace), named), c, &appsv1.ControllerRevision{}, 0, nil)
	}}
}

// podChanged enqueues the SidecarSets that match a pod, before the event if its labels
// were others. Pods that are there at the start concern SidecarSets that are there too.
func (o *Options) podChanged(before, after *corev1.Pod, enqueue controller.Enqueue) {
	if before != nil && (after == nil || !labels.Equals(before.Labels, after.Labels)) {
		o.enqueueMatching(before, enqueue)
	}
	if after != nil {
		o.enqueueMatching(after, enqueue)
	}
}

func (o *Options) enqueueMatching(pod *corev1.Pod, enqueue controller.Enqueue) {
	sets, err := caches.SidecarSetsFor(o.Reader, resourceSidecarSets, pod.Namespace, pod.Labels)
	if err != nil {
		return // the index is there since New
	}
	for _, set := range sets {
		if selector, err := metav1.LabelSelectorAsSelector(set.Spec.Selector); err == nil && selector.Matches(labels.Set(pod.Labels)) {
			enqueue(types.NamespacedName{Name: set.Name})
		}
	}
}

// namespaceChanged enqueues the SidecarSets that select namespaces by their labels. It
// enqueues all if webhooks hear of the pods of a namespace from now on, or no longer.
func (o *Options) namespaceChanged(e controller.Event, enqueue controller.Enqueue) {
	comes := e.Before == nil || e.After == nil
	heard := e.Before != nil && e.After != nil && has(e.Before.GetLabels(), v1alpha1.SidecarSetNoInjectionLabel) != has(e.After.GetLabels(), v1alpha1.SidecarSetNoInjectionLabel)
	for _, object := range o.SidecarSets.GetIndexer().List() {
		if set, ok := object.(*v1alpha1.SidecarSet); ok && (heard || set.Spec.NamespaceSelector != nil || comes && set.Spec.Namespace == e.Object().GetName()) {
			enqueue(types.NamespacedName{Name: set.Name})
		}
	}
}

// setsOfRevision names the SidecarSet that controls a revision.
func setsOfRevision(revision metav1.Object) []types.NamespacedName {
	owner := metav1.GetControllerOfNoCopy(revision)
	if owner == nil || owner.Kind != kind || !strings.HasPrefix(owner.APIVersion, v1alpha1.GroupName+"/") {
		return nil
	}
	return []types.NamespacedName{{Name: owner.Name}}
}

// reconciler is what the steps of a reconcile share.
type reconciler struct {
	options Options
	writer  *apply.Writer
}

// kind describes SidecarSets to the shell.
func (o *Options) kind() controller.Definition[Snapshot, Plan] {
	r := &reconciler{options: *o, writer: newWriter(o)}
	return controller.Definition[Snapshot, Plan]{
		Name:    component,
		Observe: r.observe, Plan: NewPlan, Apply: r.apply,
		Writer: r.writer, Forget: r.forget,
	}
}

func (r *reconciler) forget(key types.NamespacedName) {
	controller.Measure(r.options.SetMetrics, func(m SetMetrics) { m.Gone(key.Name) })
}

// observe reads everything that a plan for the SidecarSet depends on. It returns
// nil when the SidecarSet does not exist.
func (r *reconciler) observe(_ context.Context, key types.NamespacedName) (*Snapshot, error) {
	set, err := caches.Object[v1alpha1.SidecarSet](r.options.Reader, resourceSidecarSets, "SidecarSet", key)
	if set == nil || err != nil {
		return nil, err
	}
	s := &Snapshot{Set: set, RevisionNamespace: r.options.namespace(), Policies: r.options.Policies, Injection: r.options.Injection, Features: r.options.Features,
		Now: r.options.Clock.Now()}
	if s.Pods, err = caches.PodsFor(r.options.Reader, set); err != nil {
		return nil, fmt.Errorf("read the pods of SidecarSet %s: %w", key.Name, err)
	}
	if s.Revisions, err = caches.ControlledBy[*appsv1.ControllerRevision](r.options.Reader, resourceRevisions, s.RevisionNamespace, set.UID); err != nil {
		return nil, fmt.Errorf("read the revisions of SidecarSet %s: %w", key.Name, err)
	}
	s.Refused, s.HeldSince = r.writer.Refused(set, s.Pods, s.Now), r.writer.HeldSince(set)
	if name := set.Spec.Namespace; name != "" {
		namespace, err := apiwriter.Found(caches.Get[*corev1.Namespace](r.options.Reader, resourceNamespaces, "", name))
		if err != nil {
			return nil, fmt.Errorf("read namespace %s: %w", name, err)
		}
		s.NamespaceMissing = namespace == nil
	}
	return s, errors.Join(r.observeNamespaces(s), r.observeGone(s))
}

// observeGone finds the SidecarSets that have said something of the pods, and are gone. (SCS-33)
func (r *reconciler) observeGone(s *Snapshot) error {
	if !s.Features.UpgradableCondition {
		return nil
	}
	s.Gone = map[string]bool{}
	for _, pod := range s.Pods {
		for name := range saidUpgradable(pod) {
			if _, known := s.Gone[name]; known {
				continue
			}
			set, err := apiwriter.Found(caches.Get[*v1alpha1.SidecarSet](r.options.Reader, resourceSidecarSets, "", name))
			if err != nil {
				return fmt.Errorf("read SidecarSet %s: %w", name, err)
			}
			s.Gone[name] = set == nil
		}
	}
	return nil
}

// observeNamespaces reads the namespaces of the pods.
func (r *reconciler) observeNamespaces(s *Snapshot) (err error) {
	s.Namespaces = map[string]*corev1.Namespace{}
	for _, pod := range s.Pods {
		if _, known := s.Namespaces[pod.Namespace]; known {
			continue
		}
		if s.Namespaces[pod.Namespace], err = apiwriter.Found(caches.Get[*corev1.Namespace](r.options.Reader, resourceNamespaces, "", pod.Namespace)); err != nil {
			return fmt.Errorf("read namespace %s: %w", pod.Namespace, err)
		}
	}
	return nil
}

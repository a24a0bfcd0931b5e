// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"strings"
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
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// The caches that a Reconciler writes to, and so waits for.
const (
	resourceDaemonSets podwright.Resource = "daemonsets"
	resourcePods       podwright.Resource = caches.Pods
	resourceRevisions  podwright.Resource = caches.Revisions
)

// The fields that a plan reads of what a DaemonSet owns, and of nodes.
const (
	podFields = controller.Owners | controller.Labels | controller.Annotations | controller.Finalizers | controller.NodeName | controller.Phase |
		controller.Images | controller.Containers | controller.ObservedGeneration | controller.Ready | controller.ContainersReady |
		controller.InPlaceUpdateReady | controller.KruisePodReady | controller.ReadinessGates | controller.Trouble
	resizeFields   = controller.Resize // if pods are resized
	revisionFields = controller.Owners | controller.Labels | controller.RevisionData
	nodeFields     = controller.Labels | controller.Placement
)

// reads lists what a DaemonSet's plan depends on. Nodes that are there at the start
// concern DaemonSets that are there at the start.
func (o *Options) reads() []controller.Read {
	ofPods := podFields
	if o.Features.InPlaceResize {
		ofPods |= resizeFields
	}
	core, owner := controller.NewCore(o.Kubernetes, o.Namespace), v1alpha1.SchemeGroupVersion.WithKind(kind).GroupKind()
	return []controller.Read{
		{Resource: resourceDaemonSets, Object: &v1alpha1.DaemonSet{}, LiveReader: apiwriter.Typed(o.Workloads.DaemonSets), Informer: &o.DaemonSets,
			MakeInformer: controller.Maker(client.NewDaemonSetInformer, o.Workloads, o.Namespace), Fields: controller.Workload, IsReconciled: true},
		core.Pods(&o.Pods, ofPods).IndexedBy(caches.ByOwner).Concerning(controller.EachOf(setsOfPod(o))),
		core.Revisions(&o.Revisions, revisionFields).OwnedBy(owner),
		core.Nodes(&o.Nodes, nodeFields).Concerning(nodeChanged(o)),
	}
}

// setsOfPod names the DaemonSet that controls a pod, and those that may adopt one
// without a controller.
func setsOfPod(o *Options) func(metav1.Object) []types.NamespacedName {
	return func(pod metav1.Object) (keys []types.NamespacedName) {
		if owner := metav1.GetControllerOfNoCopy(pod); owner != nil {
			if owner.Kind != kind || !strings.HasPrefix(owner.APIVersion, v1alpha1.GroupName+"/") {
				return nil
			}
			return []types.NamespacedName{{Namespace: pod.GetNamespace(), Name: owner.Name}}
		}
		for _, object := range o.DaemonSets.GetIndexer().List() {
			set, ok := object.(*v1alpha1.DaemonSet)
			if !ok || set.Namespace != pod.GetNamespace() {
				continue
			}
			if selector, err := (&Snapshot{Set: set}).selector(); err == nil && selector.Matches(labels.Set(pod.GetLabels())) {
				keys = append(keys, types.NamespacedName{Namespace: set.Namespace, Name: set.Name})
			}
		}
		return keys
	}
}

// nodeChanged enqueues all DaemonSets. Heartbeats of a node are no event, and a
// reconcile that finds nothing to do costs no request. (DS-1)
func nodeChanged(o *Options) controller.Concern {
	return func(_ controller.Event, enqueue controller.Enqueue) {
		for _, object := range o.DaemonSets.GetIndexer().List() {
			if set, ok := object.(*v1alpha1.DaemonSet); ok {
				enqueue(types.NamespacedName{Namespace: set.Namespace, Name: set.Name})
			}
		}
	}
}

// reconciler is what the steps of a reconcile share.
type reconciler struct {
	options  Options
	writer   *apply.Writer
	ended    podplan.BackOff
	attempts attempts
	formers  nodefit.Formers // see Snapshot.Former
}

// kind describes DaemonSets to the shell.
func (o *Options) kind() controller.Definition[Snapshot, Plan] {
	r := &reconciler{options: *o, writer: newWriter(o), ended: podplan.BackOff{Most: mostBackOff}}
	return controller.Definition[Snapshot, Plan]{
		Name: component, Self: r,
		Observe: r.observe, Plan: NewPlan, Apply: r.apply,
		Writer: r.writer, Forget: r.forget,
		SnapshotHolds: controller.HoldsOf(resourcePods, func(s *Snapshot) []*corev1.Pod { return s.Pods }, controller.HoldsNone),
	}
}

func (r *reconciler) forget(key types.NamespacedName) {
	r.ended.Forget(key)
	r.attempts.forget(key)
	r.formers.Forget(key)
	controller.Measure(r.options.SetMetrics, func(m SetMetrics) { m.Gone(key) })
}

// observe reads everything that a plan for the DaemonSet depends on. It returns
// nil when the DaemonSet does not exist.
func (r *reconciler) observe(_ context.Context, key types.NamespacedName) (*Snapshot, error) {
	set, err := caches.Object[v1alpha1.DaemonSet](r.options.Reader, resourceDaemonSets, "DaemonSet", key)
	if set == nil || err != nil {
		return nil, err
	}
	s := &Snapshot{Set: set, Now: r.options.Clock.Now(), Features: r.options.Features}
	selector, err := s.selector()
	if err != nil {
		selector = labels.Nothing() // the plan reports it
	}
	if s.Pods, err = caches.ControlledOrOrphaned[*corev1.Pod](r.options.Reader, resourcePods, key.Namespace, set.UID, selector); err != nil {
		return nil, fmt.Errorf("read the pods of DaemonSet %s: %w", key, err)
	}
	if s.Revisions, err = caches.RevisionsOf(r.options.Reader, key.Namespace, set.UID, selector); err != nil {
		return nil, fmt.Errorf("read the revisions of DaemonSet %s: %w", key, err)
	}
	if s.Nodes, err = caches.AllNodes(r.options.Reader); err != nil {
		return nil, fmt.Errorf("read the nodes: %w", err)
	}
	var names map[string]bool // which their nodes had
	s.Former, names = r.formers.Look(set, s.Pods, s.Nodes)
	s.BackOff = r.backOff(set, s.Now)
	s.Refused, s.HeldSince = r.writer.Refused(set, s.Pods, s.Now), r.writer.HeldSince(set)
	s.RefusedNodes, s.Taken = r.attempts.of(set)
	if s.Taken == nil {
		s.Taken = names
	} else {
		maps.Copy(s.Taken, names)
	}
	s.Disrupted = r.attempts.disrupted(set, s.Pods, s.Nodes, s.Now)
	return s, r.observeJobs(s)
}

// mostBackOff is how long a pod that has ended waits for its replacement at most. (DS-4)
const mostBackOff = 15 * time.Minute

// backOffName names a node, for one generation of a DaemonSet: another template may
// be a better one.
func backOffName(set *v1alpha1.DaemonSet, node string) string {
	return strconv.FormatInt(set.Generation, 10) + "/" + node
}

// backOff says when pods that have ended may be replaced, by node.
func (r *reconciler) backOff(set *v1alpha1.DaemonSet, now time.Time) map[string]time.Time {
	this := backOffName(set, "")
	key := types.NamespacedName{Namespace: set.Namespace, Name: set.Name}
	until := r.ended.Until(key, now, func(name string) bool { return !strings.HasPrefix(name, this) })
	byNode := make(map[string]time.Time, len(until))
	for name, at := range until {
		byNode[strings.TrimPrefix(name, this)] = at
	}
	return byNode
}

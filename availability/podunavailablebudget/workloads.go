// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/availability/budget"
	"github.com/podwright/podwright/availability/v1alpha1"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
	workloadsv1beta1 "github.com/podwright/podwright/workloads/v1beta1"
)

// The kinds of workloads that informers are for.
var (
	deployments            = schema.GroupKind{Group: appsv1.GroupName, Kind: "Deployment"}
	replicaSets            = schema.GroupKind{Group: appsv1.GroupName, Kind: "ReplicaSet"}
	statefulSets           = schema.GroupKind{Group: appsv1.GroupName, Kind: "StatefulSet"}
	replicationControllers = schema.GroupKind{Kind: "ReplicationController"}
	cloneSets              = workloadsv1alpha1.Kind("CloneSet")
	advancedStatefulSets   = schema.GroupKind{Group: workloadsv1beta1.GroupName, Kind: "StatefulSet"}
)

// resourceOf names the caches of workloads by their kinds.
var resourceOf = map[schema.GroupKind]Resource{
	deployments: resourceDeployments, replicaSets: resourceReplicaSets, statefulSets: resourceStatefulSets,
	replicationControllers: resourceReplicationControllers, cloneSets: resourceCloneSets, advancedStatefulSets: resourceAdvancedStatefulSets,
}

// workloadOf reads what a budget has to know of an object of a cache; nil for what is none of the
// kinds above.
func workloadOf(object any) *budget.Workload {
	switch w := object.(type) {
	case *appsv1.Deployment:
		return newWorkload(deployments, w, w.Spec.Replicas, w.Spec.Selector)
	case *appsv1.ReplicaSet:
		return newWorkload(replicaSets, w, w.Spec.Replicas, w.Spec.Selector)
	case *appsv1.StatefulSet:
		return newWorkload(statefulSets, w, w.Spec.Replicas, w.Spec.Selector)
	case *corev1.ReplicationController:
		return newWorkload(replicationControllers, w, w.Spec.Replicas, &metav1.LabelSelector{MatchLabels: w.Spec.Selector})
	case *workloadsv1alpha1.CloneSet:
		return newWorkload(cloneSets, w, w.Spec.Replicas, w.Spec.Selector)
	case *workloadsv1beta1.StatefulSet:
		return newWorkload(advancedStatefulSets, w, w.Spec.Replicas, w.Spec.Selector)
	}
	return nil
}

func newWorkload(kind schema.GroupKind, object metav1.Object, replicas *int32, selector *metav1.LabelSelector) *budget.Workload {
	return &budget.Workload{
		GroupKind: kind, Name: object.GetName(), UID: object.GetUID(), Replicas: replicas, Selector: selector,
		Deleting: object.GetDeletionTimestamp() != nil, Controller: metav1.GetControllerOfNoCopy(object),
	}
}

// finder collects the workloads that a budget has to know.
type finder struct {
	reader    Reader
	scales    *scaleCache
	namespace string
	workloads budget.Workloads
	asked     map[types.UID]bool
	foreign   bool
}

// workloadsFor returns the workloads that a budget has to know, of the pods of its namespace, and
// whether some of them have no informer. (PUB-2 to PUB-4, PUB-23)
func (r *Reconciler) workloadsFor(ctx context.Context, b *v1alpha1.PodUnavailableBudget, pods []*corev1.Pod) (all budget.Workloads, foreign bool, err error) {
	f := &finder{reader: r.options.Reader, scales: r.scales, namespace: b.Namespace, workloads: budget.Workloads{}, asked: map[types.UID]bool{}}
	if ref := b.Spec.TargetReference; ref != nil {
		err = f.target(ctx, ref)
	}
	for _, pod := range pods {
		if err != nil {
			break
		}
		if budget.Active(pod) && (b.Spec.TargetReference != nil || budget.Matches(b, pod, nil)) {
			err = f.above(ctx, pod, b.Spec.TargetReference == nil)
		}
	}
	return f.workloads, f.foreign, err
}

// target finds the workload that a budget names.
func (f *finder) target(ctx context.Context, ref *v1alpha1.TargetReference) error {
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil {
		return nil // it names nothing
	}
	kind := schema.GroupKind{Group: gv.Group, Kind: ref.Kind}
	w, known, err := f.reader.Workload(f.namespace, kind, ref.Name)
	if !known && err == nil {
		if f.scales == nil {
			return fmt.Errorf("nothing reads the kind %s that targetRef names: give Options.Scales", kind)
		}
		f.foreign = true
		w, err = f.scales.workload(ctx, f.namespace, gv.WithKind(ref.Kind), ref.Name, "")
		if errors.Is(err, ErrNotRead) {
			return fmt.Errorf("nothing reads the kind %s that targetRef names: allow Options.Scales to", kind)
		}
	}
	if err != nil {
		return fmt.Errorf("read %s %s: %w", kind, ref.Name, err)
	}
	if w != nil {
		f.workloads[w.UID], f.asked[w.UID] = w, true
	}
	return nil
}

// above finds what controls a pod, and what controls that. What no cache has is read for pods
// that a selector selects; a targetRef is compared with owner references.
func (f *finder) above(ctx context.Context, pod *corev1.Pod, selected bool) error {
	ref := metav1.GetControllerOfNoCopy(pod)
	for ref != nil && !f.asked[ref.UID] {
		f.asked[ref.UID] = true
		gv, err := schema.ParseGroupVersion(ref.APIVersion)
		if err != nil {
			return nil
		}
		kind := schema.GroupKind{Group: gv.Group, Kind: ref.Kind}
		w, known, err := f.reader.Workload(f.namespace, kind, ref.Name)
		if !known && err == nil && selected && f.scales != nil {
			w, err = f.scales.workload(ctx, f.namespace, gv.WithKind(ref.Kind), ref.Name, ref.UID)
			if errors.Is(err, ErrNotRead) {
				return nil
			}
			f.foreign = true
		}
		if err != nil {
			return fmt.Errorf("read %s %s: %w", kind, ref.Name, err)
		}
		if w == nil || w.UID != ref.UID {
			return nil
		}
		f.workloads[w.UID] = w
		if ref = w.Controller; selected && kind != replicaSets {
			return nil // its pods are its own
		}
	}
	return nil
}

// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
	workloadsv1beta1 "github.com/podwright/podwright/workloads/v1beta1"
)

// The kinds of workloads, whatever their versions.
var (
	Deployments            = schema.GroupKind{Group: appsv1.GroupName, Kind: "Deployment"}
	ReplicaSets            = schema.GroupKind{Group: appsv1.GroupName, Kind: "ReplicaSet"}
	StatefulSets           = schema.GroupKind{Group: appsv1.GroupName, Kind: "StatefulSet"}
	ReplicationControllers = schema.GroupKind{Group: corev1.GroupName, Kind: "ReplicationController"}
	Jobs                   = schema.GroupKind{Group: batchv1.GroupName, Kind: "Job"}
	CloneSets              = schema.GroupKind{Group: workloadsv1alpha1.GroupName, Kind: "CloneSet"}
	AdvancedStatefulSets   = schema.GroupKind{Group: workloadsv1beta1.GroupName, Kind: "StatefulSet"}
)

// Entry is a kind in the table.
type Entry struct {
	schema.GroupVersionKind
	// resource is the name of its caches: in the group of podwright a kind may have the resource of another.
	resource string
	// Spread tells that a WorkloadSpread may name it. (WS-1)
	Spread bool
	// Protected tells that a label may protect it from its deletion. (DP-1)
	Protected bool

	read func(object any) *Workload
}

// table has the kinds.
var table = []Entry{
	entry(Entry{GroupVersionKind: Deployments.WithVersion("v1"), resource: "deployments", Spread: true, Protected: true}, func(o *appsv1.Deployment, w *Workload) {
		w.Replicas, w.Selector = o.Spec.Replicas, o.Spec.Selector
	}),
	entry(Entry{GroupVersionKind: ReplicaSets.WithVersion("v1"), resource: "replicasets", Spread: true, Protected: true}, func(o *appsv1.ReplicaSet, w *Workload) {
		w.Replicas, w.Selector = o.Spec.Replicas, o.Spec.Selector
	}),
	entry(Entry{GroupVersionKind: StatefulSets.WithVersion("v1"), resource: "statefulsets", Spread: true, Protected: true}, func(o *appsv1.StatefulSet, w *Workload) {
		if w.Replicas, w.Selector = o.Spec.Replicas, o.Spec.Selector; o.Spec.Ordinals != nil {
			w.Start = o.Spec.Ordinals.Start
		}
	}),
	entry(Entry{GroupVersionKind: ReplicationControllers.WithVersion("v1"), resource: "replicationcontrollers"}, func(o *corev1.ReplicationController, w *Workload) {
		w.Replicas, w.Selector = o.Spec.Replicas, &metav1.LabelSelector{MatchLabels: o.Spec.Selector}
	}),
	entry(Entry{GroupVersionKind: Jobs.WithVersion("v1"), resource: "jobs", Spread: true}, func(o *batchv1.Job, w *Workload) {
		w.Replicas, w.Selector, w.MayFail = o.Spec.Parallelism, o.Spec.Selector, new(mayFail(o))
	}),
	entry(Entry{GroupVersionKind: CloneSets.WithVersion("v1alpha1"), resource: "clonesets", Spread: true, Protected: true}, func(o *workloadsv1alpha1.CloneSet, w *Workload) {
		w.Replicas, w.Selector, w.Revision = o.Spec.Replicas, o.Spec.Selector, o.Status.UpdateRevision
	}),
	entry(Entry{GroupVersionKind: AdvancedStatefulSets.WithVersion("v1beta1"), resource: "advancedstatefulsets", Spread: true, Protected: true}, func(o *workloadsv1beta1.StatefulSet, w *Workload) {
		if w.Replicas, w.Selector = o.Spec.Replicas, o.Spec.Selector; o.Spec.Ordinals != nil {
			w.Start = o.Spec.Ordinals.Start
		}
		w.Reserved = o.Spec.Reserved()
	}),
}

// entry is a kind whose objects are of a type.
func entry[O metav1.Object](k Entry, fill func(O, *Workload)) Entry {
	k.read = func(object any) *Workload {
		o, is := object.(O)
		if !is {
			return nil
		}
		w := As(k.GroupVersionKind, o)
		fill(o, w)
		return w
	}
	return k
}

// Kinds are those of the table, always in the same order.
func Kinds() []Entry { return slices.Clone(table) }

// KindOf is the entry of a kind; nil for one that the table lacks.
func KindOf(kind schema.GroupKind) *Entry {
	for i := range table {
		if table[i].GroupKind() == kind {
			return &table[i]
		}
	}
	return nil
}

// Resource is the name of the caches of a kind; empty for one that the table lacks.
func Resource(kind schema.GroupKind) string {
	if k := KindOf(kind); k != nil {
		return k.resource
	}
	return ""
}

// SPDX-License-Identifier: Apache-2.0

// Package workload knows the kinds of workloads: what controls a pod, and how many pods that wants. A kind more is an entry of its table.
//
// It reads objects and makes no request, so that every package may use it.
package workload

import (
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Workload is what is known of one.
type Workload struct {
	schema.GroupVersionKind
	Namespace, Name string
	UID             types.UID
	Annotations     map[string]string
	// Replicas is how many pods it wants, of a Job at the same time. Nil: it does not say, which is 1.
	Replicas *int32
	// MayFail is how many more pods of a Job may fail because of us; nil for other kinds, which count no failures. See mayFail.
	MayFail *int32
	// Selector selects its pods.
	Selector *metav1.LabelSelector
	// Deleting tells that it is being deleted, and wants nothing any more.
	Deleting bool
	// Controller is what controls it; nil for nothing.
	Controller *metav1.OwnerReference
	// Revision is the latest one as its status has it; empty for kinds without.
	Revision string
	// Start is the first ordinal of its pods, and Reserved are those that it leaves out, as spec.reserveOrdinals has them: ParseReserved
	// reads them.
	Start    int32
	Reserved []intstr.IntOrString
}

// Of reads an object; nil for what is of no kind of the table.
func Of(object any) *Workload {
	for i := range table {
		if w := table[i].read(object); w != nil {
			return w
		}
	}
	return nil
}

// As is the workload that an object is, of a kind that the table may lack, but for what kinds say of their pods.
func As(kind schema.GroupVersionKind, object metav1.Object) *Workload {
	return &Workload{
		GroupVersionKind: kind, Namespace: object.GetNamespace(), Name: object.GetName(), UID: object.GetUID(), Annotations: object.GetAnnotations(),
		Deleting: object.GetDeletionTimestamp() != nil, Controller: metav1.GetControllerOfNoCopy(object),
	}
}

// Named is the name of a workload.
type Named struct {
	schema.GroupKind
	Name string
}

// MostOwners ends a walk along owners that go round in circles.
const MostOwners = 10

// Find returns the UID of a workload in the namespace of a walk, and what controls it. False: it is not known.
type Find func(kind schema.GroupKind, name string) (uid types.UID, controller *metav1.OwnerReference, known bool)

// Above names what controls an object, and what controls that, if that is known.
func Above(object metav1.Object, find Find) (names []Named) {
	ref := metav1.GetControllerOfNoCopy(object)
	for ref != nil && len(names) < MostOwners {
		gv, err := schema.ParseGroupVersion(ref.APIVersion)
		if err != nil {
			return names
		}
		n := Named{schema.GroupKind{Group: gv.Group, Kind: ref.Kind}, ref.Name}
		names = append(names, n)
		uid, controller, known := find(n.GroupKind, n.Name)
		if !known || uid != ref.UID {
			return names
		}
		ref = controller
	}
	return names
}

// ControllerKind is the kind of what controls an object; the zero value for nothing.
func ControllerKind(object metav1.Object) schema.GroupKind {
	ref := metav1.GetControllerOfNoCopy(object)
	if ref == nil {
		return schema.GroupKind{}
	}
	return schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind()
}

// defaultBackoffLimit is what the API server sets.
const defaultBackoffLimit = 6

// mayFail is how many more pods of a Job may fail because of us. A Job counts a pod that is deleted as failed, and fails for good beyond its
// backoffLimit. Half of that, rounded up, is for all failures together; the rest stays for what the pods do. With limits for each
// index it is 0.
func mayFail(job *batchv1.Job) int32 {
	if job.Spec.BackoffLimitPerIndex != nil {
		return 0
	}
	limit, failed := int64(defaultBackoffLimit), int64(job.Status.Failed)
	if job.Spec.BackoffLimit != nil {
		limit = int64(*job.Spec.BackoffLimit)
	}
	if going := job.Status.UncountedTerminatedPods; going != nil {
		failed += int64(len(going.Failed))
	}
	return int32(max((limit+1)/2-failed, 0))
}

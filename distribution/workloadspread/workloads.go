// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"math"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/distribution/spread"
	"github.com/podwright/podwright/internal/caches"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
	workloadsv1beta1 "github.com/podwright/podwright/workloads/v1beta1"
)

// resourceOf names the caches of workloads by their kinds.
var resourceOf = map[schema.GroupKind]Resource{
	spread.Deployments: resourceDeployments, spread.ReplicaSets: resourceReplicaSets, spread.StatefulSets: resourceStatefulSets,
	spread.Jobs: resourceJobs, spread.CloneSets: resourceCloneSets, spread.AdvancedStatefulSets: resourceAdvancedStatefulSets,
}

// Workload is a workload as a Reader finds it.
type Workload struct {
	spread.Workload
	// Owners are the UIDs of what controls its pods: itself, or the ReplicaSets of a Deployment.
	Owners []types.UID
	// Controller is what controls the workload; nil for nothing.
	Controller *metav1.OwnerReference
}

// workloadOf reads what is to be known of an object of a cache; nil for what is none of the kinds
// above.
func workloadOf(object any) *Workload {
	switch w := object.(type) {
	case *appsv1.Deployment:
		return newWorkload(spread.Deployments, w, w.Spec.Replicas, w.Spec.Selector)
	case *appsv1.ReplicaSet:
		return newWorkload(spread.ReplicaSets, w, w.Spec.Replicas, w.Spec.Selector)
	case *appsv1.StatefulSet:
		found := newWorkload(spread.StatefulSets, w, w.Spec.Replicas, w.Spec.Selector)
		if w.Spec.Ordinals != nil {
			found.Start = w.Spec.Ordinals.Start
		}
		return found
	case *batchv1.Job:
		return newWorkload(spread.Jobs, w, w.Spec.Parallelism, w.Spec.Selector)
	case *workloadsv1alpha1.CloneSet:
		found := newWorkload(spread.CloneSets, w, w.Spec.Replicas, w.Spec.Selector)
		found.Revision = w.Status.UpdateRevision
		return found
	case *workloadsv1beta1.StatefulSet:
		found := newWorkload(spread.AdvancedStatefulSets, w, w.Spec.Replicas, w.Spec.Selector)
		for _, ordinal := range w.Spec.ReserveOrdinals {
			if ordinal >= 0 && ordinal <= math.MaxInt32 {
				found.Reserved = append(found.Reserved, int32(ordinal))
			}
		}
		return found
	}
	return nil
}

func newWorkload(kind schema.GroupKind, object metav1.Object, replicas *int32, selector *metav1.LabelSelector) *Workload {
	return &Workload{
		Workload: spread.Workload{GroupKind: kind, Name: object.GetName(), UID: object.GetUID(), Replicas: replicas, Deleting: object.GetDeletionTimestamp() != nil, Selector: selector},
		Owners:   []types.UID{object.GetUID()}, Controller: metav1.GetControllerOfNoCopy(object),
	}
}

// addReplicaSets has a Deployment own the pods of its ReplicaSets. The one with the highest revision
// has the latest pods. (WS-1, WS-8)
func (w *Workload) addReplicaSets(all []*appsv1.ReplicaSet) {
	w.Owners = nil
	latest := int64(0)
	for _, rs := range all {
		if !metav1.IsControlledBy(rs, &metav1.ObjectMeta{UID: w.UID}) {
			continue
		}
		w.Owners = append(w.Owners, rs.UID)
		if revision, _ := strconv.ParseInt(rs.Annotations[caches.DeploymentRevision], 10, 64); revision > latest {
			latest, w.Revision = revision, rs.Labels[appsv1.DefaultDeploymentUniqueLabelKey]
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/distribution/spread"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/workload"
)

// cached is a workload as a Reader finds it.
type cached struct {
	spread.Workload
	// Owners are the UIDs of what controls its pods: itself, or the ReplicaSets of a Deployment.
	Owners []types.UID
	// Controller is what controls the workload; nil for nothing.
	Controller *metav1.OwnerReference

	object runtime.Object // shared with the cache
}

// seenBy is the workload as a WorkloadSpread is about it: it wants what the paths say. (WS-34)
func (w *cached) seenBy(ws *v1alpha1.WorkloadSpread) *spread.Workload {
	seen := w.Workload
	if len(spread.ReplicasPaths(ws)) == 0 {
		return &seen
	}
	content, err := contentOf(w.object)
	var wants int32
	if err == nil {
		wants, err = spread.FilteredReplicas(ws, content)
	}
	seen.Replicas, seen.Unknown = &wants, err
	return &seen
}

// contentOf is an object as JSON is decoded. It may be shared with the cache.
func contentOf(object runtime.Object) (map[string]any, error) {
	if custom, is := object.(*unstructured.Unstructured); is {
		return custom.Object, nil
	}
	return runtime.DefaultUnstructuredConverter.ToUnstructured(object)
}

// workloadOf reads what is to be known of an object of a cache, also of a kind of Custom; nil for what is no workload.
func (o *Options) workloadOf(object any) *cached {
	if custom, is := object.(*unstructured.Unstructured); is && custom != nil {
		return o.customOf(custom)
	}
	return workloadOf(object)
}

// workloadOf reads what is to be known of an object of a cache; nil for what is no workload.
func workloadOf(object any) *cached {
	w := workload.Of(object)
	if w == nil {
		return nil
	}
	return newWorkload(w, object.(runtime.Object))
}

func newWorkload(w *workload.Workload, object runtime.Object) *cached {
	return &cached{
		Workload: spread.Workload{GroupKind: w.GroupKind(), Name: w.Name, UID: w.UID, Replicas: w.Replicas, MayFail: w.MayFail, Deleting: w.Deleting, Selector: w.Selector,
			Revision: w.Revision, Start: w.Start, Reserved: w.Reserved},
		Owners: []types.UID{w.UID}, Controller: w.Controller, object: object,
	}
}

// addReplicaSets has a Deployment own the pods of its ReplicaSets. The one with the highest revision
// has the latest pods. (WS-1, WS-8)
func (w *cached) addReplicaSets(all []*appsv1.ReplicaSet) {
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

// SPDX-License-Identifier: Apache-2.0

package caches

import (
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/images"
)

// The names of the indexes of ImagePullJobs that are not over, and of
// NodeImages by the jobs that own their tasks.
const (
	byTarget    = "podwright.pullTarget"
	byTaskOwner = "podwright.taskOwnerUID"
)

// What the index byTarget holds; no namespace has a slash.
const (
	targetNodes = "/nodes"
	targetPods  = "/pods"
)

// AddPullJobIndex indexes an informer of ImagePullJobs by what those that are
// not over are about. It does nothing where the informer has that index already.
func AddPullJobIndex(informer cache.SharedIndexInformer) error {
	return addIndex(informer, byTarget, func(obj any) ([]string, error) {
		job, ok := obj.(*v1alpha1.ImagePullJob)
		if !ok || job.Status.CompletionTime != nil || job.DeletionTimestamp != nil {
			return nil, nil
		}
		if job.Spec.PodSelector != nil {
			return []string{targetPods, job.Namespace}, nil
		}
		return []string{targetNodes}, nil
	})
}

// JobsOfNodes returns the jobs that are not over and select nodes, of an
// informer indexed by AddPullJobIndex. They are shared with the cache.
func JobsOfNodes(indexer cache.Indexer) ([]*v1alpha1.ImagePullJob, error) {
	return byIndex[*v1alpha1.ImagePullJob](indexer, byTarget, targetNodes)
}

// JobsOfPods returns the jobs of a namespace (empty: of all) that are not over
// and select pods, of an informer indexed by AddPullJobIndex. They are shared
// with the cache.
func JobsOfPods(indexer cache.Indexer, namespace string) ([]*v1alpha1.ImagePullJob, error) {
	if namespace == "" {
		namespace = targetPods
	}
	return byIndex[*v1alpha1.ImagePullJob](indexer, byTarget, namespace)
}

// AddTaskOwnerIndex indexes an informer of NodeImages by the UIDs of the jobs
// that own tasks in them. It does nothing where the informer has that index already.
func AddTaskOwnerIndex(informer cache.SharedIndexInformer) error {
	return addIndex(informer, byTaskOwner, func(obj any) ([]string, error) {
		n, ok := obj.(*v1alpha1.NodeImage)
		if !ok {
			return nil, nil
		}
		var uids []string
		for _, owner := range images.TaskJobs(n) {
			uids = append(uids, string(owner.UID))
		}
		return uids, nil
	})
}

// NodesWithTasksOf returns the NodeImages, of an informer indexed by
// AddTaskOwnerIndex, that hold tasks of the job with that UID. They are shared
// with the cache.
func NodesWithTasksOf(indexer cache.Indexer, job types.UID) ([]*v1alpha1.NodeImage, error) {
	return byIndex[*v1alpha1.NodeImage](indexer, byTaskOwner, string(job))
}

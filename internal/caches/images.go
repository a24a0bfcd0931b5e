// SPDX-License-Identifier: Apache-2.0

package caches

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/images"
)

// The names of the indexes of ImagePullJobs that are not over, of NodeImages by the
// jobs that own their tasks, of copies of pull secrets by the jobs that need them, and
// of pods that have images pulled by the nodes to which.
const (
	byTarget    = "podwright.pullTarget"
	byTaskOwner = "podwright.taskOwnerUID"
	byReference = "podwright.copyReference"
	byPullNode  = "podwright.pullNode"
)

// What the index byTarget holds; no namespace has a slash.
const (
	targetNodes = "/nodes"
	targetPods  = "/pods"
)

// AddPullJobIndex indexes an informer of ImagePullJobs by what those that are
// not over are about. It does nothing if the informer has that index already.
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
// that own tasks in them. It does nothing if the informer has that index already.
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

// AddCopyIndex indexes an informer of copies of pull secrets by the jobs that need
// them. It does nothing if the informer has that index already.
func AddCopyIndex(informer cache.SharedIndexInformer) error {
	return addIndex(informer, byReference, func(obj any) (keys []string, err error) {
		if secret, ok := obj.(*corev1.Secret); ok {
			for _, job := range JobsOfCopy(secret) {
				keys = append(keys, job.String())
			}
		}
		return keys, nil
	})
}

// JobsOfCopy returns the jobs that need a copy. One that names none stands for the
// job of its own name: that does not exist, and so the copy goes. What is no copy
// stands for none.
func JobsOfCopy(secret *corev1.Secret) []types.NamespacedName {
	if _, isCopy := secret.Labels[v1alpha1.PullSecretSourceUIDLabel]; !isCopy || secret.Namespace != v1alpha1.DaemonConfigNamespace {
		return nil
	}
	if jobs := images.CopyReferences(secret); len(jobs) > 0 {
		return jobs
	}
	return []types.NamespacedName{{Namespace: secret.Namespace, Name: secret.Name}}
}

// CopiesFor returns the copies that a job needs, of an informer indexed by
// AddCopyIndex. They are shared with the cache.
func CopiesFor(indexer cache.Indexer, job types.NamespacedName) ([]*corev1.Secret, error) {
	return byIndex[*corev1.Secret](indexer, byReference, job.String())
}

// AddPullPodIndex indexes an informer of pods by the nodes to which they have images
// pulled. It does nothing if the informer has that index already.
func AddPullPodIndex(informer cache.SharedIndexInformer) error {
	return addIndex(informer, byPullNode, func(obj any) ([]string, error) {
		if pod, ok := obj.(*corev1.Pod); ok {
			if task, ok := images.PullTaskOf(pod); ok {
				return []string{task.Node}, nil
			}
		}
		return nil, nil
	})
}

// PullPodsOf returns the pods that have images pulled to a node, of an informer indexed
// by AddPullPodIndex. They are shared with the cache.
func PullPodsOf(indexer cache.Indexer, node string) ([]*corev1.Pod, error) {
	return byIndex[*corev1.Pod](indexer, byPullNode, node)
}

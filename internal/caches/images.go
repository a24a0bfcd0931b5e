// SPDX-License-Identifier: Apache-2.0

package caches

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/images"
)

// What the index ByTarget holds; no namespace has a slash.
const (
	targetNodes = "/nodes"
	targetPods  = "/pods"
)

// ByTarget is the index of ImagePullJobs that are not over by what they are about.
var ByTarget = podwright.Index{Name: "podwright.pullTarget", Keys: func(obj any) ([]string, error) {
	job, ok := obj.(*v1alpha1.ImagePullJob)
	if !ok || job.Status.CompletionTime != nil || job.DeletionTimestamp != nil {
		return nil, nil
	}
	if job.Spec.PodSelector != nil {
		return []string{targetPods, job.Namespace}, nil
	}
	return []string{targetNodes}, nil
}}

// JobsOfNodes returns the jobs that are not over and select nodes,
// indexed ByTarget. They are shared with the cache.
func JobsOfNodes(r podwright.Reader, resource podwright.Resource) ([]*v1alpha1.ImagePullJob, error) {
	return byIndex[*v1alpha1.ImagePullJob](r, resource, metav1.NamespaceAll, ByTarget, targetNodes)
}

// JobsOfPods returns the jobs of a namespace (empty: of all) that are not over
// and select pods, indexed ByTarget. They are shared with the cache.
func JobsOfPods(r podwright.Reader, resource podwright.Resource, namespace string) ([]*v1alpha1.ImagePullJob, error) {
	key := namespace
	if namespace == metav1.NamespaceAll {
		key = targetPods
	}
	return byIndex[*v1alpha1.ImagePullJob](r, resource, namespace, ByTarget, key)
}

// ByTaskOwner is the index of NodeImages by the UIDs of the jobs that own tasks in them.
var ByTaskOwner = podwright.Index{Name: "podwright.taskOwnerUID", Keys: func(obj any) ([]string, error) {
	n, ok := obj.(*v1alpha1.NodeImage)
	if !ok {
		return nil, nil
	}
	var uids []string
	for _, owner := range images.TaskJobs(n) {
		uids = append(uids, string(owner.UID))
	}
	return uids, nil
}}

// NodesWithTasksOf returns the NodeImages, indexed ByTaskOwner,
// that hold tasks of the job with that UID. They are shared
// with the cache.
func NodesWithTasksOf(r podwright.Reader, resource podwright.Resource, job types.UID) ([]*v1alpha1.NodeImage, error) {
	return byIndex[*v1alpha1.NodeImage](r, resource, metav1.NamespaceNone, ByTaskOwner, string(job))
}

// ByReference is the index of copies of pull secrets by the jobs that need them.
var ByReference = podwright.Index{Name: "podwright.copyReference", Keys: func(obj any) (keys []string, err error) {
	if secret, ok := obj.(*corev1.Secret); ok {
		for _, job := range JobsOfCopy(secret) {
			keys = append(keys, job.String())
		}
	}
	return keys, nil
}}

// JobsOfCopy returns the jobs that need a copy. One that names none stands for the
// job of its own name: that does not exist, and so the copy goes. What is no copy
// stands for none.
func JobsOfCopy(secret *corev1.Secret) []types.NamespacedName {
	_, labelled := secret.Labels[v1alpha1.PullSecretSourceUIDLabel]
	if _, isCopy := images.CopySource(secret); !isCopy && !labelled || secret.Namespace != v1alpha1.DaemonConfigNamespace {
		return nil
	}
	if jobs := images.CopyReferences(secret); len(jobs) > 0 {
		return jobs
	}
	return []types.NamespacedName{{Namespace: secret.Namespace, Name: secret.Name}}
}

// CopiesFor returns the copies that a job needs, indexed ByReference.
// They are shared with the cache.
func CopiesFor(r podwright.Reader, resource podwright.Resource, job types.NamespacedName) ([]*corev1.Secret, error) {
	return byIndex[*corev1.Secret](r, resource, v1alpha1.DaemonConfigNamespace, ByReference, job.String())
}

// ByPullNode is the index of pods that have images pulled by the nodes to which.
var ByPullNode = podwright.Index{Name: "podwright.pullNode", Keys: func(obj any) ([]string, error) {
	if pod, ok := obj.(*corev1.Pod); ok {
		if task, ok := images.PullTaskOf(pod); ok {
			return []string{task.Node}, nil
		}
	}
	return nil, nil
}}

// PullPodsOf returns the pods that have images pulled to a node, in all namespaces, indexed ByPullNode.
// They are shared with the cache.
func PullPodsOf(r podwright.Reader, node string) ([]*corev1.Pod, error) {
	return byIndex[*corev1.Pod](r, Pods, metav1.NamespaceAll, ByPullNode, node)
}

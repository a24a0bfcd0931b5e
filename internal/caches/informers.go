// SPDX-License-Identifier: Apache-2.0

package caches

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/typedclient"
)

// Informers makes the informers of Kubernetes' own kinds that the user of a
// controller does not share. Those of client-go would bring the packages of all
// kinds that there are into every program.
type Informers struct {
	client    kubernetes.Interface
	namespace string
}

// NewInformers returns the Informers that restrict what they make to a
// namespace, empty for all.
func NewInformers(client kubernetes.Interface, namespace string) Informers {
	return Informers{client, namespace}
}

// Pods makes an informer of pods.
func (i Informers) Pods() cache.SharedIndexInformer {
	return newInformer(i.client, i.client.CoreV1().Pods(i.namespace), &corev1.Pod{})
}

// Claims makes an informer of claims.
func (i Informers) Claims() cache.SharedIndexInformer {
	return newInformer(i.client, i.client.CoreV1().PersistentVolumeClaims(i.namespace), &corev1.PersistentVolumeClaim{})
}

// Revisions makes an informer of revisions.
func (i Informers) Revisions() cache.SharedIndexInformer {
	return newInformer(i.client, i.client.AppsV1().ControllerRevisions(i.namespace), &appsv1.ControllerRevision{})
}

// Jobs makes an informer of Jobs.
func (i Informers) Jobs() cache.SharedIndexInformer {
	return newInformer(i.client, i.client.BatchV1().Jobs(i.namespace), &batchv1.Job{})
}

// Namespaces makes an informer of namespaces.
func (i Informers) Namespaces() cache.SharedIndexInformer {
	return newInformer(i.client, i.client.CoreV1().Namespaces(), &corev1.Namespace{})
}

// Nodes makes an informer of nodes.
func (i Informers) Nodes() cache.SharedIndexInformer {
	return newInformer(i.client, i.client.CoreV1().Nodes(), &corev1.Node{})
}

// Deployments makes an informer of Deployments.
func (i Informers) Deployments() cache.SharedIndexInformer {
	return newInformer(i.client, i.client.AppsV1().Deployments(i.namespace), &appsv1.Deployment{})
}

// ReplicaSets makes an informer of ReplicaSets.
func (i Informers) ReplicaSets() cache.SharedIndexInformer {
	return newInformer(i.client, i.client.AppsV1().ReplicaSets(i.namespace), &appsv1.ReplicaSet{})
}

// StatefulSets makes an informer of Kubernetes' own StatefulSets.
func (i Informers) StatefulSets() cache.SharedIndexInformer {
	return newInformer(i.client, i.client.AppsV1().StatefulSets(i.namespace), &appsv1.StatefulSet{})
}

// ReplicationControllers makes an informer of ReplicationControllers.
func (i Informers) ReplicationControllers() cache.SharedIndexInformer {
	return newInformer(i.client, i.client.CoreV1().ReplicationControllers(i.namespace), &corev1.ReplicationController{})
}

// PodDisruptionBudgets makes an informer of PodDisruptionBudgets.
func (i Informers) PodDisruptionBudgets() cache.SharedIndexInformer {
	return newInformer(i.client, i.client.PolicyV1().PodDisruptionBudgets(i.namespace), &policyv1.PodDisruptionBudget{})
}

func newInformer[L runtime.Object](client kubernetes.Interface, objects typedclient.ListWatcher[L], example runtime.Object) cache.SharedIndexInformer {
	return typedclient.NewInformer(objects, client, example, 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
}

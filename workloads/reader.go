// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// PodReader is the part of a kind's Reader that reads the pods of a workload.
type PodReader interface {
	// Pods returns the pods of the namespace that the UID controls, in any order. Others
	// that name it as an owner may be among them, and are left alone.
	Pods(namespace string, owner types.UID) ([]*corev1.Pod, error)
}

// ClaimReader is the part of a kind's Reader that reads the claims of a workload.
type ClaimReader interface {
	// Claims returns the claims of the namespace that name the UID as an owner,
	// whether a pod mounts them or not, in any order.
	Claims(namespace string, owner types.UID) ([]*corev1.PersistentVolumeClaim, error)
}

// RevisionReader is the part of a kind's Reader that reads the revisions of a
// workload.
type RevisionReader interface {
	// Revisions returns the revisions of the namespace that the UID controls, and those
	// without a controller that match the selector, each once, in any order. Others that
	// name it as an owner may be among them, and are left alone.
	Revisions(namespace string, owner types.UID, selector labels.Selector) ([]*appsv1.ControllerRevision, error)
}

// NodeReader is the part of a kind's Reader that reads the nodes of the cluster.
type NodeReader interface {
	// Nodes returns all nodes, in any order. Unfinished pods on nodes that are not
	// among them, and pods that wait for such a node, are deleted.
	Nodes() ([]*corev1.Node, error)
}

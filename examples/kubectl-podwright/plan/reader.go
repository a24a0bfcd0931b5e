// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// reader is what reconcilers observe the cluster by: it asks the API server instead of caches, and returns the
// workload that it is about whatever its name.
type reader struct {
	ctx  context.Context
	kube kubernetes.Interface
}

// SyncedResourceVersion says nothing: what is read is as new as can be, and nothing is written.
func (r *reader) SyncedResourceVersion(podwright.Resource) string { return "" }

// Claims returns the claims that name an owner.
func (r *reader) Claims(namespace string, owner types.UID) ([]*corev1.PersistentVolumeClaim, error) {
	list, err := r.kube.CoreV1().PersistentVolumeClaims(namespace).List(r.ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	return chosen(list.Items, func(claim *corev1.PersistentVolumeClaim) bool { return owned(claim, owner) }), nil
}

// Revisions returns the revisions that name an owner, and those without a controller that match the selector.
func (r *reader) Revisions(namespace string, owner types.UID, selector labels.Selector) ([]*appsv1.ControllerRevision, error) {
	list, err := r.kube.AppsV1().ControllerRevisions(namespace).List(r.ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	return chosen(list.Items, func(revision *appsv1.ControllerRevision) bool { return ownedOrOrphaned(revision, owner, selector) }), nil
}

// Nodes returns all nodes.
func (r *reader) Nodes() ([]*corev1.Node, error) {
	list, err := r.kube.CoreV1().Nodes().List(r.ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	return chosen(list.Items, func(*corev1.Node) bool { return true }), nil
}

// pods returns the pods of a namespace that a function chooses.
func (r *reader) pods(namespace string, choose func(*corev1.Pod) bool) ([]*corev1.Pod, error) {
	list, err := r.kube.CoreV1().Pods(namespace).List(r.ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	return chosen(list.Items, choose), nil
}

// chosen returns the objects that a function chooses.
func chosen[T any](objects []T, choose func(*T) bool) (all []*T) {
	for i := range objects {
		if choose(&objects[i]) {
			all = append(all, &objects[i])
		}
	}
	return all
}

func owned(object metav1.Object, owner types.UID) bool {
	return slices.ContainsFunc(object.GetOwnerReferences(), func(o metav1.OwnerReference) bool { return o.UID == owner })
}

func ownedOrOrphaned(object metav1.Object, owner types.UID, selector labels.Selector) bool {
	return owned(object, owner) || metav1.GetControllerOfNoCopy(object) == nil && selector.Matches(labels.Set(object.GetLabels()))
}

// cloneSetReader reads for one CloneSet.
type cloneSetReader struct {
	*reader
	set *v1alpha1.CloneSet
}

func (r cloneSetReader) CloneSet(string, string) (*v1alpha1.CloneSet, error) { return r.set, nil }

func (r cloneSetReader) Pods(namespace string, owner types.UID) ([]*corev1.Pod, error) {
	return r.pods(namespace, func(pod *corev1.Pod) bool { return owned(pod, owner) })
}

// Node returns no node if it cannot be read: it counts as a topology of its own, and as reachable.
func (r cloneSetReader) Node(name string) *corev1.Node {
	node, err := r.kube.CoreV1().Nodes().Get(r.ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil
	}
	return node
}

// statefulSetReader reads for one StatefulSet.
type statefulSetReader struct {
	*reader
	set *v1beta1.StatefulSet
}

func (r statefulSetReader) StatefulSet(string, string) (*v1beta1.StatefulSet, error) {
	return r.set, nil
}

func (r statefulSetReader) Pods(namespace, set string) ([]*corev1.Pod, error) {
	return r.pods(namespace, func(pod *corev1.Pod) bool {
		ordinal, ok := strings.CutPrefix(pod.Name, set+"-")
		_, err := strconv.ParseUint(ordinal, 10, 31)
		return ok && err == nil
	})
}

func (r statefulSetReader) Claim(namespace, name string) (*corev1.PersistentVolumeClaim, error) {
	list, err := r.kube.CoreV1().PersistentVolumeClaims(namespace).List(r.ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	if err != nil || len(list.Items) == 0 {
		return nil, err
	}
	return &list.Items[0], nil
}

// daemonSetReader reads for one DaemonSet.
type daemonSetReader struct {
	*reader
	set *v1alpha1.DaemonSet
}

func (r daemonSetReader) DaemonSet(string, string) (*v1alpha1.DaemonSet, error) { return r.set, nil }

func (r daemonSetReader) Pods(namespace string, owner types.UID, selector labels.Selector) ([]*corev1.Pod, error) {
	return r.pods(namespace, func(pod *corev1.Pod) bool { return ownedOrOrphaned(pod, owner, selector) })
}

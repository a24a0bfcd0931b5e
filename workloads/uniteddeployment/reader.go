// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/workloads"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// Reader reads caches. What it returns is shared with the cache: a Reconciler
// never changes it. Its methods are called by several goroutines. New makes one
// over informers; another lets a Reconciler run on the caches of another framework.
//
// The methods that take an owner return what names the UID as an owner, and what
// matches the selector and has no controller. They return each once, in any order. Those of kinds in
// Options.Without are not called.
type Reader interface {
	podwright.Caches
	workloads.RevisionReader
	// UnitedDeployment returns a UnitedDeployment, or an error for which
	// apierrors.IsNotFound holds.
	UnitedDeployment(namespace, name string) (*v1alpha1.UnitedDeployment, error)
	// StatefulSets are those of apps/v1.
	StatefulSets(namespace string, owner types.UID, selector labels.Selector) ([]*appsv1.StatefulSet, error)
	AdvancedStatefulSets(namespace string, owner types.UID, selector labels.Selector) ([]*v1beta1.StatefulSet, error)
	CloneSets(namespace string, owner types.UID, selector labels.Selector) ([]*v1alpha1.CloneSet, error)
	Deployments(namespace string, owner types.UID, selector labels.Selector) ([]*appsv1.Deployment, error)
	// PodsAt returns the pods of the namespace whose label v1alpha1.SubsetRevisionLabel has a
	// value, in any order.
	PodsAt(namespace, revision string) ([]*corev1.Pod, error)
}

// informerReader reads informers that New has indexed.
type informerReader struct{ caches.Reader }

func newInformerReader(c caches.Reader) Reader { return informerReader{c} }

func (r informerReader) UnitedDeployment(namespace, name string) (*v1alpha1.UnitedDeployment, error) {
	return caches.Get[*v1alpha1.UnitedDeployment](r.Reader, resourceUnitedDeployments, namespace, name)
}

func (r informerReader) StatefulSets(namespace string, owner types.UID, selector labels.Selector) ([]*appsv1.StatefulSet, error) {
	return owned[*appsv1.StatefulSet](r, resourceStatefulSets, namespace, owner, selector)
}

func (r informerReader) AdvancedStatefulSets(namespace string, owner types.UID, selector labels.Selector) ([]*v1beta1.StatefulSet, error) {
	return owned[*v1beta1.StatefulSet](r, resourceAdvancedStatefulSets, namespace, owner, selector)
}

func (r informerReader) CloneSets(namespace string, owner types.UID, selector labels.Selector) ([]*v1alpha1.CloneSet, error) {
	return owned[*v1alpha1.CloneSet](r, resourceCloneSets, namespace, owner, selector)
}

func (r informerReader) Deployments(namespace string, owner types.UID, selector labels.Selector) ([]*appsv1.Deployment, error) {
	return owned[*appsv1.Deployment](r, resourceDeployments, namespace, owner, selector)
}

func (r informerReader) PodsAt(namespace, revision string) ([]*corev1.Pod, error) {
	return caches.Labelled[*corev1.Pod](r.Reader[caches.Pods], namespace, v1alpha1.SubsetRevisionLabel, revision)
}

func owned[T metav1.Object](r informerReader, resource podwright.Resource, namespace string, owner types.UID, selector labels.Selector) ([]T, error) {
	return caches.ControlledOrOrphaned[T](r.Reader[resource], namespace, owner, selector)
}

// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// Snapshot is everything that a plan depends on: what the caches held at one
// moment. Its objects are shared with the caches; nothing in this package
// changes them.
type Snapshot struct {
	// Set is the UnitedDeployment. Required.
	Set *v1alpha1.UnitedDeployment
	// Revisions are its revisions, and those that match its selector and have no
	// controller, in any order.
	Revisions []*appsv1.ControllerRevision
	// StatefulSets, AdvancedStatefulSets, CloneSets and Deployments are its workloads, and
	// those that match its selector and have no controller, in any order. Others beside
	// them do no harm. Pod templates, claim templates and annotations of those of
	// apps/v1 are not read.
	StatefulSets         []*appsv1.StatefulSet
	AdvancedStatefulSets []*v1beta1.StatefulSet
	CloneSets            []*v1alpha1.CloneSet
	Deployments          []*appsv1.Deployment
	// Pods are those that name one of the Revisions in v1alpha1.SubsetRevisionLabel, in any
	// order. Others beside them do no harm.
	Pods []*corev1.Pod
	// Without lists the kinds of templates that are not known: a UnitedDeployment with such
	// a template creates nothing.
	Without []TemplateKind
	// Features switches behaviour.
	Features Features
	// Taken lists names that workloads of other owners have.
	Taken []string
	// HeldSince is when what holds the UnitedDeployment up began, as far as a controller remembers. (UD-22)
	HeldSince map[rollout.Subject]time.Time
	// Now is the time for which to plan.
	Now time.Time
}

// selector is that of the UnitedDeployment.
func (s *Snapshot) selector() (labels.Selector, error) {
	return metav1.LabelSelectorAsSelector(s.Set.Spec.Selector)
}

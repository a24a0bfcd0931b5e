// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Snapshot is everything that a plan depends on: what the caches held at one
// moment. Its objects are shared with the caches; nothing in this package
// changes them.
type Snapshot struct {
	// Set is the CloneSet. Required.
	Set *v1alpha1.CloneSet
	// Revisions are those that the CloneSet controls, and those without a
	// controller that match its selector, in any order.
	Revisions []*appsv1.ControllerRevision
	// Pods are those that the CloneSet controls, whatever their phase. Of the pods and claims,
	// others that name it as an owner are left alone.
	Pods []*corev1.Pod
	// Claims are those that the CloneSet controls.
	Claims []*corev1.PersistentVolumeClaim
	// Unused are the instance ids of which no pod could be created. So no pod has used their claims, as far as that is
	// remembered. It is read if claims are not to be reused.
	Unused map[string]bool
	// NodeLabels holds the labels of nodes by node name. It is read if the
	// template has topology spread constraints; nodes may be missing.
	NodeLabels map[string]map[string]string
	// Unreachable says since when nodes cannot be reached, by node name. It is read of the nodes of pods that are not
	// ready; a zero time is long ago.
	Unreachable map[string]time.Time
	// Jobs names the image pull jobs that the CloneSet controls.
	Jobs []string
	// Refused are the updates in place that the API server has refused.
	Refused rollout.Refusals
	// HeldSince is when what holds the CloneSet up began, as far as a controller remembers. (CS-40)
	HeldSince map[rollout.Subject]time.Time
	// Now is the time for which to plan. Required.
	Now time.Time
	// Features switches behaviour.
	Features Features
}

// selector returns the CloneSet's selector, which selects something.
func (s *Snapshot) selector() (labels.Selector, error) { return podplan.Selector(s.Set.Spec.Selector) }

// replicas is the number of pods wanted, 1 if the spec leaves it open.
func (s *Snapshot) replicas() int32 { return ptr.Deref(s.Set.Spec.Replicas, 1) }

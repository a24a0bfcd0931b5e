// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/internal/heldup"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// TemplateKind says which kind of workloads a template makes.
type TemplateKind string

const (
	// StatefulSet is for StatefulSets of apps/v1.
	StatefulSet TemplateKind = "StatefulSet"
	// AdvancedStatefulSet is for StatefulSets of apps.kruise.io/v1beta1.
	AdvancedStatefulSet TemplateKind = "AdvancedStatefulSet"
	// CloneSet is for CloneSets.
	CloneSet TemplateKind = "CloneSet"
	// Deployment is for Deployments of apps/v1.
	Deployment TemplateKind = "Deployment"
)

// kinds are all of them.
var kinds = []TemplateKind{StatefulSet, AdvancedStatefulSet, CloneSet, Deployment}

// kindOf returns the kind of a template: that of its only field that is set. It is empty, and
// false, if none is or several are. (UD-1)
func kindOf(t *v1alpha1.SubsetTemplate) (TemplateKind, bool) {
	var found []TemplateKind
	for kind, set := range map[TemplateKind]bool{
		StatefulSet: t.StatefulSetTemplate != nil, AdvancedStatefulSet: t.AdvancedStatefulSetTemplate != nil,
		CloneSet: t.CloneSetTemplate != nil, Deployment: t.DeploymentTemplate != nil,
	} {
		if set {
			found = append(found, kind)
		}
	}
	if len(found) != 1 {
		return "", false
	}
	return found[0], true
}

// Child is the workload of a subset: what a plan reads of it.
type Child struct {
	// Object is the workload, shared with the caches.
	Object metav1.Object
	// Kind is which of the templates it is made of.
	Kind TemplateKind
	// Subset is the name of the subset, empty for a workload that has none.
	Subset string
	// Revision is the name of the revision of the UnitedDeployment that it was last written
	// at, and Hash what it was written for beside that. Both are empty if it does not say. (UD-9)
	Revision, Hash string
	// Replicas is the number of pods that it is to have.
	Replicas int32
	// Partition is the number of pods that it holds back. Nil if its kind or its strategy
	// has no partition, or the partition is a percentage.
	Partition *int32
	// Partitioned says that its kind and its strategy have a partition.
	Partitioned bool
	// CurrentReplicas and ReadyReplicas are what its status says.
	CurrentReplicas, ReadyReplicas int32
	// Observed says that its controller has seen its spec.
	Observed bool

	heldUp   *heldup.Told // what its status says of what holds it up, nil for nothing
	start    int32        // of a StatefulSet, the ordinal of its first pod
	parallel bool         // of a StatefulSet, that no pod waits for another one to be created
}

// children returns all workloads of the snapshot.
func (s *Snapshot) children() (all []Child) {
	for _, o := range s.StatefulSets {
		all = append(all, statefulSetChild(o))
	}
	for _, o := range s.AdvancedStatefulSets {
		all = append(all, s.Features.advancedStatefulSetChild(o))
	}
	for _, o := range s.CloneSets {
		all = append(all, cloneSetChild(o))
	}
	for _, o := range s.Deployments {
		all = append(all, deploymentChild(o))
	}
	return all
}

func statefulSetChild(o *appsv1.StatefulSet) Child {
	c := childOf(o, StatefulSet, v1alpha1.SubsetRevisionLabel, o.Spec.Selector)
	c.Replicas, c.CurrentReplicas, c.ReadyReplicas = ptr.Deref(o.Spec.Replicas, 1), o.Status.Replicas, o.Status.ReadyReplicas
	c.Observed = o.Status.ObservedGeneration >= o.Generation
	if c.Partitioned = o.Spec.UpdateStrategy.Type != appsv1.OnDeleteStatefulSetStrategyType; c.Partitioned {
		c.Partition = new(int32)
		if rolling := o.Spec.UpdateStrategy.RollingUpdate; rolling != nil {
			*c.Partition = ptr.Deref(rolling.Partition, 0)
		}
	}
	c.parallel = o.Spec.PodManagementPolicy == appsv1.ParallelPodManagement
	if o.Spec.Ordinals != nil {
		c.start = o.Spec.Ordinals.Start
	}
	return c
}

// How HeldUp stands among the conditions of the workloads of subsets.
var (
	ofStatefulSets = heldup.Conditions[appsv1.StatefulSetCondition]{Read: func(c *appsv1.StatefulSetCondition) (string, heldup.Told) {
		return string(c.Type), heldup.Told{Reason: c.Reason, Message: c.Message, Since: c.LastTransitionTime.Time}
	}}
	ofCloneSets = heldup.Conditions[v1alpha1.CloneSetCondition]{Read: func(c *v1alpha1.CloneSetCondition) (string, heldup.Told) {
		return string(c.Type), heldup.Told{Reason: c.Reason, Message: c.Message, Since: c.LastTransitionTime.Time}
	}}
)

func (f Features) advancedStatefulSetChild(o *v1beta1.StatefulSet) Child {
	label, moved := f.labelOf(o)
	c := childOf(o, AdvancedStatefulSet, label, o.Spec.Selector)
	if moved {
		c.Hash = unlabelled
	}
	c.Replicas, c.CurrentReplicas, c.ReadyReplicas = ptr.Deref(o.Spec.Replicas, 1), o.Status.Replicas, o.Status.ReadyReplicas
	c.Observed = o.Status.ObservedGeneration >= o.Generation
	if c.Partitioned = o.Spec.UpdateStrategy.Type != appsv1.OnDeleteStatefulSetStrategyType; c.Partitioned {
		c.Partition = new(int32)
		if rolling := o.Spec.UpdateStrategy.RollingUpdate; rolling != nil {
			*c.Partition = ptr.Deref(rolling.Partition, 0)
		}
	}
	c.heldUp = ofStatefulSets.Told(o.Status.Conditions)
	return c
}

// revisionLabel is the label of Advanced StatefulSets that names their revision. (UD-7)
func (f Features) revisionLabel() string {
	if f.RevisionLabel {
		return v1alpha1.SubsetRevisionLabel
	}
	return appsv1.ControllerRevisionHashLabelKey
}

// labelOf is the label of an Advanced StatefulSet that says its revision, and whether that is to be in the other one. If OpenKruise has
// written it last, it is the one that all kinds have from 1.8 on, and stays until the next update. (UD-9)
func (f Features) labelOf(o *v1beta1.StatefulSet) (label string, moved bool) {
	label, other := f.revisionLabel(), v1alpha1.SubsetRevisionLabel
	if f.RevisionLabel {
		other = appsv1.ControllerRevisionHashLabelKey
	}
	switch {
	case o.Labels[hashLabel] == "" && o.Labels[v1alpha1.SubsetRevisionLabel] != "":
		return v1alpha1.SubsetRevisionLabel, false
	case o.Labels[hashLabel] == "":
		return appsv1.ControllerRevisionHashLabelKey, false
	case o.Labels[label] == "" && o.Labels[other] != "":
		return other, true
	}
	return label, false
}

func cloneSetChild(o *v1alpha1.CloneSet) Child {
	c := childOf(o, CloneSet, v1alpha1.SubsetRevisionLabel, o.Spec.Selector)
	c.Replicas, c.CurrentReplicas, c.ReadyReplicas = ptr.Deref(o.Spec.Replicas, 1), o.Status.Replicas, o.Status.ReadyReplicas
	c.Observed, c.Partitioned = o.Status.ObservedGeneration >= o.Generation, true
	c.heldUp = ofCloneSets.Told(o.Status.Conditions)
	if partition := ptr.Deref(o.Spec.UpdateStrategy.Partition, intstr.FromInt32(0)); partition.Type == intstr.Int {
		c.Partition = new(partition.IntVal)
	}
	return c
}

func deploymentChild(o *appsv1.Deployment) Child {
	c := childOf(o, Deployment, v1alpha1.SubsetRevisionLabel, o.Spec.Selector)
	c.Replicas, c.CurrentReplicas, c.ReadyReplicas = ptr.Deref(o.Spec.Replicas, 1), o.Status.Replicas, o.Status.ReadyReplicas
	c.Observed = o.Status.ObservedGeneration >= o.Generation
	return c
}

// unlabelled is the Hash of a workload that has lost the label of its subset, or names its revision in another label than now. So
// the controller writes the workload again. Its selector still has the subset.
const unlabelled = "unlabelled"

func childOf(o metav1.Object, kind TemplateKind, revisionLabel string, selector *metav1.LabelSelector) Child {
	l := o.GetLabels()
	c := Child{Object: o, Kind: kind, Subset: l[v1alpha1.SubsetNameLabel], Revision: l[revisionLabel], Hash: l[hashLabel]}
	if c.Subset == "" && selector != nil {
		c.Subset, c.Hash = selector.MatchLabels[v1alpha1.SubsetNameLabel], unlabelled
	}
	return c
}

// deleting tells whether the workload is being deleted.
func (c *Child) deleting() bool { return c.Object.GetDeletionTimestamp() != nil }

// has tells whether a kind is among some.
func has(some []TemplateKind, kind TemplateKind) bool { return slices.Contains(some, kind) }

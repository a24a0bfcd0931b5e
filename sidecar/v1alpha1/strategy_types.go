// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
)

// SidecarSetUpdateStrategy says how pods are updated that were injected before.
type SidecarSetUpdateStrategy struct {
	// Type is RollingUpdate (default) or NotUpdate.
	// +optional
	Type SidecarSetUpdateStrategyType `json:"type,omitempty"`

	// Paused stops the update.
	// +optional
	Paused bool `json:"paused,omitempty"`

	// Selector selects those of the pods that are updated. Default: all.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`

	// Partition is how many of the pods that could be updated are not: a number, or a
	// percentage of the matched pods. It is rounded down, unless the manager behaves as
	// OpenKruise 1.9: then up, but below 100% one pod is updated if there are several. Default 0.
	// +optional
	Partition *intstr.IntOrString `json:"partition,omitempty"`

	// MaxUnavailable is how many updated pods may be unavailable: a number, or a
	// percentage of the matched pods. Default 1.
	// +optional
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`

	// PriorityStrategy says which pods are updated first. Default: those that serve least.
	// +optional
	PriorityStrategy *inplacev1alpha1.UpdatePriorityStrategy `json:"priorityStrategy,omitempty"`

	// ScatterStrategy spreads pods with these labels over the update.
	// +optional
	ScatterStrategy []UpdateScatterTerm `json:"scatterStrategy,omitempty"`
}

// SidecarSetUpdateStrategyType is whether pods are updated that were injected before.
type SidecarSetUpdateStrategyType string

const (
	// RollingUpdateSidecarSetStrategyType updates pods in place, some at a time. The default.
	RollingUpdateSidecarSetStrategyType SidecarSetUpdateStrategyType = "RollingUpdate"
	// NotUpdateSidecarSetStrategyType leaves pods as they were injected.
	NotUpdateSidecarSetStrategyType SidecarSetUpdateStrategyType = "NotUpdate"
)

// UpdateScatterTerm names pods by a label.
type UpdateScatterTerm struct {
	// Key is the key of the label.
	Key string `json:"key"`
	// Value is the value of the label; * stands for every value.
	Value string `json:"value"`
}

// SidecarSetInjectionStrategy says what is injected into new pods.
type SidecarSetInjectionStrategy struct {
	// Paused leaves new pods alone.
	// +optional
	Paused bool `json:"paused,omitempty"`

	// Revision injects that of an earlier revision. Default: that of the spec.
	// +optional
	Revision *SidecarSetInjectRevision `json:"revision,omitempty"`
}

// SidecarSetInjectRevision names a revision. One of both names must be given.
type SidecarSetInjectRevision struct {
	// CustomVersion is the label SidecarSetCustomVersionLabel of the revision.
	// +optional
	CustomVersion *string `json:"customVersion,omitempty"`

	// RevisionName is the name of the revision; it goes before CustomVersion.
	// +optional
	RevisionName *string `json:"revisionName,omitempty"`

	// Policy is into which new pods the revision is injected: Always (default) into all,
	// Partial into those that an update would leave as they are.
	// +optional
	// +kubebuilder:default=Always
	Policy SidecarSetInjectRevisionPolicy `json:"policy,omitempty"`
}

// SidecarSetInjectRevisionPolicy is into which new pods a revision is injected.
type SidecarSetInjectRevisionPolicy string

const (
	// AlwaysSidecarSetInjectRevisionPolicy injects the revision into all new pods. The default.
	AlwaysSidecarSetInjectRevisionPolicy SidecarSetInjectRevisionPolicy = "Always"
	// PartialSidecarSetInjectRevisionPolicy injects the revision into all new pods while the update is
	// paused. Otherwise it is into those that the selector of the updateStrategy does not match. Of the
	// others it is, by lot, into as many as a partition says that is a percentage. The rest get the spec.
	PartialSidecarSetInjectRevisionPolicy SidecarSetInjectRevisionPolicy = "Partial"
)

// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// ResourceDistributionSpec says what to copy, and into which namespaces.
type ResourceDistributionSpec struct {
	// Resource is the Secret or ConfigMap to copy, a whole manifest without a
	// namespace. Its apiVersion, kind and name cannot be changed.
	// +kubebuilder:validation:EmbeddedResource
	// +kubebuilder:pruning:PreserveUnknownFields
	Resource runtime.RawExtension `json:"resource"`

	// Targets are the namespaces that get a copy.
	Targets ResourceDistributionTargets `json:"targets"`

	// SourceRef is a Secret or ConfigMap, of the kind of Resource, whose content the
	// copies have. Of Resource they have name, labels and annotations, and it has no
	// content of its own. The source must have the label
	// resourcedistribution.podwright.io/source, and who writes the spec must have
	// the right to get it. Default: the content is that of Resource. No OpenKruise
	// has it, and it is refused unless controller and webhook are told to read it.
	// +optional
	SourceRef *ResourceDistributionSource `json:"sourceRef,omitempty"`
}

// ResourceDistributionSource names a Secret or ConfigMap.
type ResourceDistributionSource struct {
	// Namespace is that of the source.
	Namespace string `json:"namespace"`

	// Name is that of the source.
	Name string `json:"name"`
}

// ResourceDistributionTargets select namespaces: all, or those that are included or
// match the selector; without those that are excluded.
type ResourceDistributionTargets struct {
	// AllNamespaces selects every namespace, but kube-system and kube-public, which
	// have to be included by name. Default false.
	// +optional
	AllNamespaces bool `json:"allNamespaces,omitempty"`

	// ExcludedNamespaces get no copy. Default: none.
	// +optional
	ExcludedNamespaces ResourceDistributionTargetNamespaces `json:"excludedNamespaces,omitempty"`

	// IncludedNamespaces get a copy, those that do not exist as soon as they do.
	// Default: none.
	// +optional
	IncludedNamespaces ResourceDistributionTargetNamespaces `json:"includedNamespaces,omitempty"`

	// NamespaceLabelSelector selects namespaces by their labels, but kube-system and
	// kube-public. An empty one selects none.
	// +optional
	NamespaceLabelSelector metav1.LabelSelector `json:"namespaceLabelSelector,omitempty"`
}

// ResourceDistributionTargetNamespaces are namespaces by name.
type ResourceDistributionTargetNamespaces struct {
	// +optional
	List []ResourceDistributionNamespace `json:"list,omitempty"`
}

// ResourceDistributionNamespace is a namespace.
type ResourceDistributionNamespace struct {
	// Name is that of the namespace, a DNS label.
	// +optional
	Name string `json:"name,omitempty"`
}

// ResourceDistributionStatus says how far the copies are.
type ResourceDistributionStatus struct {
	// Desired is the number of namespaces that are to have a copy, those that are
	// included by name and do not exist among them.
	// +optional
	Desired int32 `json:"desired"`

	// Succeeded is how many of them have it.
	// +optional
	Succeeded int32 `json:"succeeded"`

	// Failed is how many of them do not.
	// +optional
	Failed int32 `json:"failed"`

	// ObservedGeneration is the generation of the spec that the status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Conditions say what failed, and in which namespaces: one for each
	// ResourceDistributionConditionType, in their order. SourceMissing is there only
	// with spec.sourceRef.
	// +optional
	Conditions []ResourceDistributionCondition `json:"conditions,omitempty"`
}

// ResourceDistributionConditionType is something that can fail.
type ResourceDistributionConditionType string

// What can fail, in the order of the status.
const (
	// ResourceDistributionGetResourceFailed: an object of the name could not be read.
	ResourceDistributionGetResourceFailed ResourceDistributionConditionType = "GetResourceFailed"
	// ResourceDistributionCreateResourceFailed: a copy could not be created.
	ResourceDistributionCreateResourceFailed ResourceDistributionConditionType = "CreateResourceFailed"
	// ResourceDistributionUpdateResourceFailed: a copy could not be updated.
	ResourceDistributionUpdateResourceFailed ResourceDistributionConditionType = "UpdateResourceFailed"
	// ResourceDistributionDeleteResourceFailed: a copy that is no longer wanted could
	// not be deleted.
	ResourceDistributionDeleteResourceFailed ResourceDistributionConditionType = "DeleteResourceFailed"
	// ResourceDistributionConflictOccurred: there is an object of the name that is no
	// copy of this ResourceDistribution.
	ResourceDistributionConflictOccurred ResourceDistributionConditionType = "ConflictOccurred"
	// ResourceDistributionNamespaceNotExists: the namespace does not exist, or is
	// terminating.
	ResourceDistributionNamespaceNotExists ResourceDistributionConditionType = "NamespaceNotExists"
	// ResourceDistributionSourceMissing: spec.sourceRef names what does not exist, or has
	// not the label. A ResourceDistribution without it has no such condition.
	ResourceDistributionSourceMissing ResourceDistributionConditionType = "SourceMissing"
	// ResourceDistributionHeldUp is there, and True, while something has held the ResourceDistribution up for a minute. Reason
	// and message stand in Reason, with a colon in between, and the message begins with the object. OpenKruise does not know it.
	ResourceDistributionHeldUp ResourceDistributionConditionType = "HeldUp"
)

// ResourceDistributionCondition says whether something failed.
type ResourceDistributionCondition struct {
	// Type is what can fail.
	Type ResourceDistributionConditionType `json:"type"`

	// Status is "True" if it failed in at least one namespace, "False" otherwise.
	Status string `json:"status"`

	// LastTransitionTime is when the status became what it is.
	// +optional
	LastTransitionTime metav1.Time `json:"lastTransitionTime,omitempty"`

	// Reason is the error in one of the namespaces, or Succeeded.
	// +optional
	Reason string `json:"reason,omitempty"`

	// FailedNamespaces are the namespaces in which it failed, by name, the first 1,000.
	// +optional
	FailedNamespaces []string `json:"failedNamespace,omitempty"`
}

// ResourceDistribution copies a Secret or ConfigMap to namespaces, and keeps the
// copies as they are here.
//
// +genclient
// +genclient:nonNamespaced
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster,shortName=distributor
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="TOTAL",type="integer",JSONPath=".status.desired",description="How many namespaces are to have a copy."
// +kubebuilder:printcolumn:name="SUCCEED",type="integer",JSONPath=".status.succeeded",description="How many have it."
// +kubebuilder:printcolumn:name="FAILED",type="integer",JSONPath=".status.failed",description="How many do not."
// +kubebuilder:validation:XValidation:fieldPath=".spec",rule=`has(self.spec)`,reason=FieldValueRequired,message="a ResourceDistribution needs a spec with resource and targets"
// +kubebuilder:validation:XValidation:fieldPath=".spec.resource",rule=`!has(self.spec) || self.spec.resource.apiVersion == 'v1' && self.spec.resource.kind in ['Secret', 'ConfigMap']`,message="unknown or unsupported resource GroupKind, only support [Secret ConfigMap]"
// +kubebuilder:validation:XValidation:fieldPath=".spec.resource",rule=`!has(self.spec) || has(self.spec.resource.metadata) && has(self.spec.resource.metadata.name) && size(self.spec.resource.metadata.name) > 0`,reason=FieldValueRequired,message="metadata.name must name the copies"
// +kubebuilder:validation:XValidation:fieldPath=".spec.resource",rule=`!has(self.spec) || !has(oldSelf.spec) || self.spec.resource.apiVersion == oldSelf.spec.resource.apiVersion && self.spec.resource.kind == oldSelf.spec.resource.kind && self.spec.resource.metadata.name == oldSelf.spec.resource.metadata.name`,reason=FieldValueForbidden,message="resource apiVersion, kind, and name are immutable"
// +kubebuilder:validation:XValidation:fieldPath=".spec.sourceRef",rule=`!has(self.spec) || !has(self.spec.sourceRef) || size(self.spec.sourceRef.__namespace__) > 0 && size(self.spec.sourceRef.name) > 0`,message="must name a namespace and an object in it"
type ResourceDistribution struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state.
	Spec ResourceDistributionSpec `json:"spec,omitempty"`
	// Status is the observed state. Controllers and agents write it, users do not.
	Status ResourceDistributionStatus `json:"status,omitempty"`
}

// ResourceDistributionList is a list of ResourceDistributions.
//
// +kubebuilder:object:root=true
type ResourceDistributionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the objects of the list, in no order.
	Items []ResourceDistribution `json:"items"`
}

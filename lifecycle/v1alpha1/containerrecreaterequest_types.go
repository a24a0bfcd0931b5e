// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ContainerRecreateRequestSpec says which containers of which pod to stop, so
// that the kubelet starts them again. It cannot be changed: the webhook refuses
// that as forbidden (403), and the schema, if no webhook runs, as invalid (422).
type ContainerRecreateRequestSpec struct {
	// PodName is the name of the pod, in the namespace of the request.
	PodName string `json:"podName"`

	// Containers are the containers to recreate, at least one; each is named
	// once. They must be containers of the pod's spec that have been started:
	// init and ephemeral containers cannot be recreated.
	Containers []ContainerRecreateRequestContainer `json:"containers"`

	// Strategy says how to recreate them. Nil stands for an empty one.
	// +optional
	Strategy *ContainerRecreateRequestStrategy `json:"strategy,omitempty"`

	// ActiveDeadlineSeconds is the time in seconds after which the request is completed, however
	// far it is, at least 3. It counts from when the manager first saw it. Default: no limit.
	// +optional
	ActiveDeadlineSeconds *int64 `json:"activeDeadlineSeconds,omitempty"`

	// TTLSecondsAfterFinished is the time in seconds after which a completed
	// request is deleted. Default: it is kept, even when its pod is gone.
	// +optional
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`
}

// ContainerRecreateRequestContainer names a container to recreate. What is not
// its name is copied from the pod when the request is created, and refused from
// the user. So a node agent needs no look at the pod.
type ContainerRecreateRequestContainer struct {
	// Name is the name of the container.
	Name string `json:"name"`

	// PreStop is the container's preStop hook. Nil: it has none. Filled in by the
	// webhook, for node agents of OpenKruise. One of podwright runs the hook that the
	// kubelet recorded of the container, whatever stands here.
	// +optional
	PreStop *corev1.LifecycleHandler `json:"preStop,omitempty"`

	// Ports are the container's ports, if its preStop hook is an httpGet,
	// whose port may be the name of one of them. Filled in by the webhook.
	// +optional
	Ports []corev1.ContainerPort `json:"ports,omitempty"`

	// StatusContext is what ran when the request was created. Filled in by the
	// webhook.
	// +optional
	StatusContext *ContainerRecreateRequestContainerContext `json:"statusContext,omitempty"`
}

// ContainerRecreateRequestContainerContext identifies the run of a container
// that a request means.
type ContainerRecreateRequestContainerContext struct {
	// ContainerID is the ID with the runtime as its prefix, for example containerd://4fa6.
	ContainerID string `json:"containerID"`
	// RestartCount is how often the container had been restarted.
	RestartCount int32 `json:"restartCount"`
}

// ContainerRecreateRequestFailurePolicyType says what a container that cannot
// be stopped means for the others.
type ContainerRecreateRequestFailurePolicyType string

const (
	// ContainerRecreateRequestFailurePolicyFail completes the request at once. The default.
	ContainerRecreateRequestFailurePolicyFail ContainerRecreateRequestFailurePolicyType = "Fail"
	// ContainerRecreateRequestFailurePolicyIgnore goes on with the other containers.
	ContainerRecreateRequestFailurePolicyIgnore ContainerRecreateRequestFailurePolicyType = "Ignore"
)

// ContainerRecreateRequestStrategy says how containers are recreated. They are
// stopped one after the other, in the order of the spec.
type ContainerRecreateRequestStrategy struct {
	// FailurePolicy is Fail (default) or Ignore.
	// +optional
	FailurePolicy ContainerRecreateRequestFailurePolicyType `json:"failurePolicy,omitempty"`

	// OrderedRecreate stops a container only when the one before it is
	// recreated. Default false: when the one before it is stopped.
	// +optional
	OrderedRecreate bool `json:"orderedRecreate,omitempty"`

	// ForceRecreate also stops a container that is starting, or that has
	// restarted by itself since the request was created. Default false: such a
	// container counts as recreated once it is ready.
	// +optional
	ForceRecreate bool `json:"forceRecreate,omitempty"`

	// TerminationGracePeriodSeconds is the time in seconds that a container
	// has to stop, its preStop hook included; 0 or more. With 0 the hook does
	// not run and the container has 2 seconds. Default: that of the pod when
	// the request is created.
	// +optional
	TerminationGracePeriodSeconds *int64 `json:"terminationGracePeriodSeconds,omitempty"`

	// UnreadyGracePeriodSeconds is the time in seconds for which the pod is
	// out of service before the first container is stopped; 0 or more. With 0
	// the pod is taken out of service too. It takes the readiness gate
	// KruisePodReady; a pod without it stays in service, and its containers are
	// stopped after the same time. Default: the pod stays in service.
	// +optional
	UnreadyGracePeriodSeconds *int64 `json:"unreadyGracePeriodSeconds,omitempty"`

	// MinStartedSeconds is the time in seconds that a new container must have
	// run, and be ready, to count as recreated. Default 0; a negative number
	// counts as 0.
	// +optional
	MinStartedSeconds int32 `json:"minStartedSeconds,omitempty"`
}

// ContainerRecreateRequestPhase is the phase of a request or of one of its
// containers.
type ContainerRecreateRequestPhase string

const (
	// ContainerRecreateRequestPending is the phase of a request that the node
	// agent has seen and that waits for another one of the same pod. It is also
	// that of a container that has not been stopped yet.
	ContainerRecreateRequestPending ContainerRecreateRequestPhase = "Pending"
	// ContainerRecreateRequestRecreating is the phase of a request that the
	// node agent works on. It is also that of a container that has been stopped
	// and is not back yet.
	ContainerRecreateRequestRecreating ContainerRecreateRequestPhase = "Recreating"
	// ContainerRecreateRequestSucceeded is the phase of a container that is
	// back. No request has it.
	ContainerRecreateRequestSucceeded ContainerRecreateRequestPhase = "Succeeded"
	// ContainerRecreateRequestFailed is the phase of a container that could not
	// be stopped. No request has it.
	ContainerRecreateRequestFailed ContainerRecreateRequestPhase = "Failed"
	// ContainerRecreateRequestCompleted is the phase of a request that is over,
	// whether its containers are recreated or not. No container has it.
	ContainerRecreateRequestCompleted ContainerRecreateRequestPhase = "Completed"
)

// ContainerRecreateRequestStatus is the observed state of a request.
type ContainerRecreateRequestStatus struct {
	// ObservedGeneration is the metadata.generation of the request that this
	// status is about. It is 0 until the node agent, or if none answers the
	// manager, has seen it. OpenKruise does not have it.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Phase is Pending, Recreating or Completed; empty until the node agent
	// has seen the request.
	Phase ContainerRecreateRequestPhase `json:"phase"`

	// CompletionTime is when the request was completed; nil until then. It
	// comes together with the phase Completed, and is what tells that a request
	// is over.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// ContainerRecreateStates tell how far each container is, in the order of
	// the spec. Empty until the node agent works on the request. A request that
	// is cut short, by its deadline for example, leaves them as they were.
	// +optional
	ContainerRecreateStates []ContainerRecreateRequestContainerRecreateState `json:"containerRecreateStates,omitempty"`

	// Message says in words why the request was cut short, or what it waits for before the
	// node agent works on it. It is empty when the agent came to an end with all containers, also if some failed.
	// +optional
	Message string `json:"message,omitempty"`
}

// ContainerRecreateRequestContainerRecreateState tells how far a container is.
type ContainerRecreateRequestContainerRecreateState struct {
	// Name is the name of the container.
	Name string `json:"name"`
	// Phase is Pending, Recreating, Succeeded or Failed; the last two are final.
	Phase ContainerRecreateRequestPhase `json:"phase"`
	// Message says in words what went wrong.
	// +optional
	Message string `json:"message,omitempty"`
	// IsKilled says that the node agent has stopped the container.
	// +optional
	IsKilled bool `json:"isKilled,omitempty"`
}

// ContainerRecreateRequest stops containers of a pod once, so that the kubelet
// starts them again. The pod stays: its address, its volumes and its other
// containers are not touched.
//
// What the schema cannot say is left to the webhook. That is that every
// container is named once and is a started one of the pod. It is also that the
// user fills in nothing but names, and that the labels cannot be changed.
//
// +genclient
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=crr
// +kubebuilder:printcolumn:name="PHASE",type="string",JSONPath=".status.phase",description="How far the request is."
// +kubebuilder:printcolumn:name="POD",type="string",JSONPath=".spec.podName",description="The pod whose containers are recreated."
// +kubebuilder:printcolumn:name="NODE",type="string",JSONPath=".metadata.labels.crr\\.apps\\.kruise\\.io/node-name",description="The node that the pod runs on."
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:validation:XValidation:fieldPath=".spec",rule=`has(self.spec)`,reason=FieldValueRequired,message="a ContainerRecreateRequest needs a spec with podName and containers"
// +kubebuilder:validation:XValidation:fieldPath=".spec.podName",rule=`!has(self.spec) || size(self.spec.podName) > 0`,reason=FieldValueRequired,message="must name a pod"
// +kubebuilder:validation:XValidation:fieldPath=".spec.podName",rule=`!has(self.spec) || !has(oldSelf.spec) || self.spec.podName == oldSelf.spec.podName`,reason=FieldValueForbidden,message="cannot be changed: create another ContainerRecreateRequest"
// +kubebuilder:validation:XValidation:fieldPath=".spec.containers",rule=`!has(self.spec) || size(self.spec.containers) > 0`,reason=FieldValueRequired,message="must name at least one container of the pod"
// +kubebuilder:validation:XValidation:fieldPath=".spec.containers",rule=`!has(self.spec) || self.spec.containers.all(c, size(c.name) > 0)`,reason=FieldValueRequired,message="every name must name a container of the pod"
// +kubebuilder:validation:XValidation:fieldPath=".spec.containers",rule=`!has(self.spec) || !has(oldSelf.spec) || self.spec.containers == oldSelf.spec.containers || size(self.spec.containers) == size(oldSelf.spec.containers) && oldSelf.spec.containers.exists(c, has(c.preStop) && has(c.preStop.sleep))`,reason=FieldValueForbidden,message="cannot be changed: create another ContainerRecreateRequest"
// +kubebuilder:validation:XValidation:fieldPath=".spec.strategy.failurePolicy",rule=`!has(self.spec) || !has(self.spec.strategy) || !has(self.spec.strategy.failurePolicy) || size(self.spec.strategy.failurePolicy) == 0 || self.spec.strategy.failurePolicy in ['Fail', 'Ignore']`,messageExpression=`'must be Fail or Ignore, is ' + self.spec.strategy.failurePolicy`
// +kubebuilder:validation:XValidation:fieldPath=".spec.strategy.failurePolicy",rule=`!has(self.spec) || !has(oldSelf.spec) || (has(self.spec.strategy) && has(self.spec.strategy.failurePolicy) && size(self.spec.strategy.failurePolicy) > 0 ? self.spec.strategy.failurePolicy : 'Fail') == (has(oldSelf.spec.strategy) && has(oldSelf.spec.strategy.failurePolicy) && size(oldSelf.spec.strategy.failurePolicy) > 0 ? oldSelf.spec.strategy.failurePolicy : 'Fail')`,reason=FieldValueForbidden,message="cannot be changed: create another ContainerRecreateRequest"
// +kubebuilder:validation:XValidation:fieldPath=".spec.strategy.orderedRecreate",rule=`!has(self.spec) || !has(oldSelf.spec) || (has(self.spec.strategy) && has(self.spec.strategy.orderedRecreate) && self.spec.strategy.orderedRecreate) == (has(oldSelf.spec.strategy) && has(oldSelf.spec.strategy.orderedRecreate) && oldSelf.spec.strategy.orderedRecreate)`,reason=FieldValueForbidden,message="cannot be changed: create another ContainerRecreateRequest"
// +kubebuilder:validation:XValidation:fieldPath=".spec.strategy.forceRecreate",rule=`!has(self.spec) || !has(oldSelf.spec) || (has(self.spec.strategy) && has(self.spec.strategy.forceRecreate) && self.spec.strategy.forceRecreate) == (has(oldSelf.spec.strategy) && has(oldSelf.spec.strategy.forceRecreate) && oldSelf.spec.strategy.forceRecreate)`,reason=FieldValueForbidden,message="cannot be changed: create another ContainerRecreateRequest"
// +kubebuilder:validation:XValidation:fieldPath=".spec.strategy.terminationGracePeriodSeconds",rule=`!has(self.spec) || !has(self.spec.strategy) || !has(self.spec.strategy.terminationGracePeriodSeconds) || self.spec.strategy.terminationGracePeriodSeconds >= 0`,message="must be 0 or more"
// +kubebuilder:validation:XValidation:fieldPath=".spec.strategy.terminationGracePeriodSeconds",rule=`!has(self.spec) || !has(oldSelf.spec) || (has(self.spec.strategy) && has(self.spec.strategy.terminationGracePeriodSeconds) ? [self.spec.strategy.terminationGracePeriodSeconds] : []) == (has(oldSelf.spec.strategy) && has(oldSelf.spec.strategy.terminationGracePeriodSeconds) ? [oldSelf.spec.strategy.terminationGracePeriodSeconds] : [])`,reason=FieldValueForbidden,message="cannot be changed: create another ContainerRecreateRequest"
// +kubebuilder:validation:XValidation:fieldPath=".spec.strategy.unreadyGracePeriodSeconds",rule=`!has(self.spec) || !has(self.spec.strategy) || !has(self.spec.strategy.unreadyGracePeriodSeconds) || self.spec.strategy.unreadyGracePeriodSeconds >= 0`,message="must be 0 or more"
// +kubebuilder:validation:XValidation:fieldPath=".spec.strategy.unreadyGracePeriodSeconds",rule=`!has(self.spec) || !has(oldSelf.spec) || (has(self.spec.strategy) && has(self.spec.strategy.unreadyGracePeriodSeconds) ? [self.spec.strategy.unreadyGracePeriodSeconds] : []) == (has(oldSelf.spec.strategy) && has(oldSelf.spec.strategy.unreadyGracePeriodSeconds) ? [oldSelf.spec.strategy.unreadyGracePeriodSeconds] : [])`,reason=FieldValueForbidden,message="cannot be changed: create another ContainerRecreateRequest"
// +kubebuilder:validation:XValidation:fieldPath=".spec.strategy.minStartedSeconds",rule=`!has(self.spec) || !has(oldSelf.spec) || (has(self.spec.strategy) && has(self.spec.strategy.minStartedSeconds) ? self.spec.strategy.minStartedSeconds : 0) == (has(oldSelf.spec.strategy) && has(oldSelf.spec.strategy.minStartedSeconds) ? oldSelf.spec.strategy.minStartedSeconds : 0)`,reason=FieldValueForbidden,message="cannot be changed: create another ContainerRecreateRequest"
// +kubebuilder:validation:XValidation:fieldPath=".spec.activeDeadlineSeconds",rule=`!has(self.spec) || !has(self.spec.activeDeadlineSeconds) || self.spec.activeDeadlineSeconds >= 3`,message="must be 3 or more"
// +kubebuilder:validation:XValidation:fieldPath=".spec.activeDeadlineSeconds",rule=`!has(self.spec) || !has(oldSelf.spec) || (has(self.spec.activeDeadlineSeconds) ? [self.spec.activeDeadlineSeconds] : []) == (has(oldSelf.spec.activeDeadlineSeconds) ? [oldSelf.spec.activeDeadlineSeconds] : [])`,reason=FieldValueForbidden,message="cannot be changed: create another ContainerRecreateRequest"
// +kubebuilder:validation:XValidation:fieldPath=".spec.ttlSecondsAfterFinished",rule=`!has(self.spec) || !has(oldSelf.spec) || (has(self.spec.ttlSecondsAfterFinished) ? [self.spec.ttlSecondsAfterFinished] : []) == (has(oldSelf.spec.ttlSecondsAfterFinished) ? [oldSelf.spec.ttlSecondsAfterFinished] : [])`,reason=FieldValueForbidden,message="cannot be changed: create another ContainerRecreateRequest"
type ContainerRecreateRequest struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state.
	Spec ContainerRecreateRequestSpec `json:"spec,omitempty"`
	// Status is the observed state. Controllers and agents write it, users do not.
	Status ContainerRecreateRequestStatus `json:"status,omitempty"`
}

// ContainerRecreateRequestList is a list of ContainerRecreateRequests.
//
// +kubebuilder:object:root=true
type ContainerRecreateRequestList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the objects of the list, in no order.
	Items []ContainerRecreateRequest `json:"items"`
}

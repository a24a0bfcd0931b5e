// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Annotations of workloads that have a PersistentPodState made for them.
const (
	// AutoGeneratePersistentPodStateAnnotation is "true" on a workload that has one made.
	AutoGeneratePersistentPodStateAnnotation = "kruise.io/auto-generate-persistent-pod-state"
	// RequiredPersistentTopologyAnnotation lists the keys of requiredPersistentTopology, divided
	// by commas.
	RequiredPersistentTopologyAnnotation = "kruise.io/required-persistent-topology"
	// PreferredPersistentTopologyAnnotation lists the keys of the one preferredPersistentTopology,
	// of weight 100, divided by commas.
	PreferredPersistentTopologyAnnotation = "kruise.io/preferred-persistent-topology"
	// PersistentPodAnnotationsAnnotation lists the keys of persistentPodAnnotations, divided by
	// commas.
	PersistentPodAnnotationsAnnotation = "kruise.io/persistent-pod-annotations"
)

// Annotations of pods that were placed by a PersistentPodState.
const (
	// InjectedPersistentPodStateAnnotation is the name of the PersistentPodState.
	InjectedPersistentPodStateAnnotation = "kruise.io/injected-persistent-pod-state"
	// InjectedNodeSelectorAnnotation lists the keys of the node selector that it has given to the
	// pod, divided by commas; empty for none. OpenKruise does not write it.
	InjectedNodeSelectorAnnotation = "persistentpodstates.podwright.io/injected-node-selector"
)

// PersistentPodStateWhitelistKey is a key of the ConfigMap kruise-configuration in the namespace
// of the manager. It holds a list of further kinds whose pods have the names of a StatefulSet's,
// as JSON: {"workloads":[{"Group":"g","Version":"v","Kind":"K"}]}.
const PersistentPodStateWhitelistKey = "PPS_Watch_Custom_Workload_WhiteList"

// Conditions of a PersistentPodState.
const (
	// TopologyLostCondition is True while pods ran in a required topology that no node is in any more:
	// they are placed elsewhere.
	TopologyLostCondition = "TopologyLost"
	// StateTooLargeCondition is True while the state of some pods is not kept, since the object would
	// become too large.
	StateTooLargeCondition = "StateTooLarge"
	// PersistentPodStateHeldUp is the condition HeldUp, True or absent: it names what of the spec is not done, and why. OpenKruise
	// does not know it.
	PersistentPodStateHeldUp = "HeldUp"
)

// Reasons of the conditions above.
const (
	// BadValueReason is that of HeldUp: a stored value cannot be used.
	BadValueReason = "BadValue"
	// NodesGoneReason: there is no node for a topology.
	NodesGoneReason = "NodesGone"
	// NodesExistReason: there are nodes for every topology.
	NodesExistReason = "NodesExist"
	// TooManyPodsReason: the state of all pods is too large.
	TooManyPodsReason = "TooManyPods"
	// StateFitsReason: the state of all pods is kept.
	StateFitsReason = "StateFits"
)

// Events about PersistentPodStates and their pods.
const (
	// PersistentPodStateEventSource is the component that reports the events.
	PersistentPodStateEventSource = "persistentpodstate-controller"
	// TopologyLostEvent is the reason of a Warning about a PersistentPodState when the condition TopologyLost becomes
	// True, with its message. It is also the reason of one about a pod that is deleted to be placed elsewhere.
	TopologyLostEvent = TopologyLostCondition
	// StateTooLargeEvent is the reason of a Warning about a PersistentPodState when the condition StateTooLarge becomes
	// True, with its message.
	StateTooLargeEvent = StateTooLargeCondition
	// UnknownWorkloadEvent is the reason of a Warning about a PersistentPodState whose workload is not read.
	UnknownWorkloadEvent = "UnknownWorkload"
	// NotGeneratedEvent is the reason of a Warning about a workload that asks for a PersistentPodState and does not
	// get it.
	NotGeneratedEvent = "PersistentPodStateNotGenerated"
)

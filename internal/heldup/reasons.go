// SPDX-License-Identifier: Apache-2.0

package heldup

import "github.com/podwright/podwright/inplace/rollout"

// Scope says what a reason is about.
type Scope int

const (
	// Object: one pod or another object. It is what the condition names.
	Object Scope = iota
	// Whole: the workload.
	Whole
	// Behind: what waits behind another pod or object. The condition names it only if there is no other hold.
	Behind
	// Reported: a condition about failures names it, which is there as long as it lasts.
	Reported
	// Asked: the user asked for it in the spec. No condition names it.
	Asked
)

// Reason is an entry of the list of reasons.
type Reason struct {
	// rule is the reason of the condition, and the code of an explanation.
	rule rollout.Rule
	// Ends says what ends it.
	Ends string
	// Scope says what it is about.
	Scope Scope
}

// reasons is the closed list of what holds an object up. A test holds that each rule of the repository stands in it.
var reasons = []Reason{
	// The update of pods.
	{rollout.RulePaused, "the update is resumed", Whole},
	{rollout.RuleOnDelete, "a user deletes the pods: the update strategy leaves that to users", Asked},
	{rollout.RulePartition, "the partition is lowered", Asked},
	{rollout.RuleReplicas, "replicas are raised", Asked},
	{rollout.RuleMaxUnavailable, "pods that are unavailable become available, or maxUnavailable is raised", Behind},
	{rollout.RuleInPlaceUpdateHook, "the controller that holds the inPlaceUpdate hook lets the pod go", Object},
	{rollout.RuleUpdatedHook, "the controller that holds the inPlaceUpdate hook puts it back", Object},
	{rollout.RuleGracePeriod, "the grace period is over", Object},
	{rollout.RuleInPlaceUpdating, "kubelet reports the new containers", Object},
	{rollout.RuleResizeDeferred, "the node has room for the new cpu and memory", Object},
	{rollout.RuleResizeInfeasible, "the template asks for less, or the pod is recreated", Object},
	{rollout.RuleSidecarUpdating, "the update of the sidecar is complete", Object},
	{rollout.RuleInPlaceOnly, "the template is changed back, or the strategy lets pods be recreated", Whole},
	{rollout.RuleRevision, "the template and the selector fit", Whole},
	{rollout.RuleScaleFirst, "these pods are created or gone", Behind},
	{rollout.RuleRefused, "the API server accepts the update", Reported},
	{rollout.RuleBudget, "the budget allows one more pod to be unavailable", Object},
	{rollout.RuleRefreshFirst, "that is written", Behind},

	// The creation and deletion of pods.
	{rollout.RuleScaleMaxUnavailable, "new pods become available, or scaleStrategy.maxUnavailable is raised", Behind},
	{rollout.RuleClaimInUse, "the former pod is gone", Whole},
	{rollout.RuleCreateFirst, "the missing pods are created", Behind},
	{rollout.RuleDeleteFirst, "those pods are gone", Behind},
	{rollout.RulePreDeleteHook, "the controller that holds the preDelete hook lets the pod go", Object},
	{rollout.RuleOrderedReady, "the pod before it is available", Behind},
	{rollout.RuleNameTaken, "the other pod is deleted", Object},
	{rollout.RuleBackOff, "the back-off is over", Object},
	{FewAtOnce, "those that were deleted before are some seconds gone", Whole},
	{rollout.RuleVolumeResize, "the driver of the storage class grows the volumes", Object},
	{rollout.RulePreNormalHook, "the controller that holds the preNormal hook lets the pod go", Object},

	// The state of a pod, see OfPod.
	{Finalizer, "the controllers that set them remove them", Object},
	{Terminating, "its containers have stopped", Object},
	{SchedulingGated, "the controllers that set them remove them", Object},
	{Claim, "the claims of the pod are bound", Object},
	{Unschedulable, "a node has room for the pod, or the template asks for less", Object},
	{Image, "the image can be pulled, or the template names another one", Object},
	{CrashLoop, "the container stays up, or the template is changed; kubectl logs --previous says why it ended", Object},
	{Config, "what the template refers to exists", Object},
	{Rejected, "the kubelet admits the pod", Object},
	{ReadinessGate, "the controller that is responsible for the condition sets it to True", Object},
	{Missing, "the pod is created", Object},
	{NotReady, "its readiness probes succeed, or the template is changed", Object},
	{MinReadySeconds, "minReadySeconds are over, or are lowered", Object},

	// DaemonSet.
	{"BurstReplicas", "those pods are created, deleted or updated", Behind},
	{"NodeSelector", "the selector of the update matches the node", Asked},
	{"NodeTainted", "the taint is removed, or the template tolerates it", Asked},
	{"PodWithoutNode", "what changes pods as they are created leaves them their node", Whole},
	{"NodeAway", "the node is ready again, or is deleted", Object},
	{"MaxSurge", "second pods become available, or maxSurge is raised", Behind},
	{HostPort, "maxSurge is 0, or the template has no hostPort", Object},

	// What is stored and cannot be used, of all kinds.
	{BadValue, "the field has a value that can be used", Whole},

	// StatefulSet.
	{ClaimTooSmall, "the claim is enlarged, or its pod recreated, with or without the claim as the message says, or the claim template asks for less", Object},

	// UnitedDeployment.
	{"Unready", "the pod is ready again, or has not been for five minutes", Object},
	{SubsetHeldUp, "what holds up the workload of the subset is over", Object},

	// Jobs of all kinds.
	{"Parallelism", "others have ended, or parallelism is raised", Behind},
	{"FailedPod", "the failed pod is deleted, or paused is set and removed", Whole},
	{"BeingDeleted", "the job is gone", Asked},
	{"Problem", "the spec is changed", Reported},
	{"Schedule", "the next time of the schedule comes", Asked},
	{"StartingDeadline", "the next time of the schedule comes, or startingDeadlineSeconds is raised", Whole},
	{"Forbid", "the active job ends, or concurrencyPolicy is changed", Whole},
	{"NotStarted", "the pod has a node that works, and its containers start", Object},
	{"NoNodeImage", "the manager has made the NodeImage of the node", Object},
	{"PullSecrets", "the pull secrets of the job can be read and copied", Whole},
	{"TooManyImages", "other jobs take their images off the node", Object},
	{PullSlot, "a pull of the node ends", Object},
	{"NodeImageFull", "other jobs of the namespace take their images off the node", Object},

	// PodUnavailableBudget.
	{"TotalUnknown", "the controller can read the scale subresource of the workload, or the budget says a number", Object},
	{"PodsElsewhere", "the other budget is about other pods, or is deleted", Object},
	{"NotCounted", "what the message says of the pod is over", Object},
	{"PodsMissing", "the workloads have created the pods that they want", Behind},
	{"NotMirrored", "what the message says is mended, or the annotation is removed", Whole},

	// WorkloadSpread.
	{"TargetMissing", "the workload is created, or the WorkloadSpread is deleted", Object},
	{"WorkloadTaken", "one of both WorkloadSpreads is deleted", Object},
	{"TargetUnread", "the controller is told to read the kind of the workload", Object},
	{"PatchApplies", "the patch of the subset leaves the labels by which the workload knows its pods", Object},
	{"PodNotWritten", "the API server accepts the pod", Object},
	{"PodOfJob", "a node takes the pod, a user deletes it, or raises the backoffLimit of its Job", Object},
	{"PodNotDeleted", "the API server accepts the deletion", Object},

	// ResourceDistribution.
	{"GetResourceFailed", "the object of the name can be read", Object},
	{"CreateResourceFailed", "the API server accepts the copy, or the former one is gone", Object},
	{"UpdateResourceFailed", "the API server accepts the copy, and other writers leave it", Object},
	{"DeleteResourceFailed", "the API server accepts the deletion of the copy", Object},
	{"ConflictOccurred", "the object of that name is gone", Object},
	{"NamespaceNotExists", "the namespace is created, or is no target any more", Object},
	{"SourceMissing", "the source exists and has the label that lets it be read", Object},

	// PodProbeMarker.
	{"ProbeTooLarge", "the probe is made smaller", Object},
	{"NoSuchContainer", "a pod has the container, or the probe names another one", Object},
	{"NoResult", "the agent of the node reports a result", Object},
	{"ProbesLeft", "the controller takes the probes off the node, or the node is deleted", Object},

	// ContainerRecreateRequest.
	{"RequestAhead", "the other request of the pod ends, or is deleted", Object},
	{"AgentSilent", "the agent of the node works again", Object},

	// SidecarSet.
	{"NotUpdate", "the type of the updateStrategy is another one, or the pods are recreated", Asked},
	{"NotSelected", "the selector of the updateStrategy matches the pod", Asked},
	{"HotUpgrade", "the container that does not work any more has taken the empty image", Object},
	{"WorkloadUpdating", "the workload's update of the pod is complete", Object},
	{"NotUpgradable", "the pod is recreated, which injects what is new", Object},
	{"NotInjected", "the pod is recreated while the webhook or a policy injects", Object},
	{"Incomplete", "the pod is recreated while the webhook or a policy injects", Object},
	{"Unreadable", "the annotation is mended, or the pod is recreated", Object},

	// What else waits, of kinds whose plans list it: it holds nothing up for a user, or another condition tells of it.
	{"AgentWorks", "the node agent has recreated the containers", Asked},
	{"Concurrency", "what is under way on the node ends", Behind},
	{"CreationDelay", "the node has been ready for long enough", Asked},
	{"Environment", "the runtime answers", Object},
	{"Eviction", "the API server evicts the pod", Asked},
	{"ForeignConfigMap", "the ConfigMap is deleted", Reported},
	{"FormerPod", "the garbage collector deletes the ConfigMap of the former pod", Object},
	{"ImageReplaced", "the container exits, since it runs another image", Asked},
	{"Kubelet", "the kubelet starts the container, or tells of it", Object},
	{"LaunchPriority", "the containers of higher priorities are ready", Asked},
	{"MainContainer", "the main container ends", Asked},
	{"MinStarted", "minStartedSeconds are over", Asked},
	{"MostProbes", "other probes of the namespace leave the node", Reported},
	{"NeverRun", "the probe is changed", Reported},
	{"NoAgent", "a request is served otherwise, or the pod is deleted", Object},
	{"NodeBeingDeleted", "the node is gone", Asked},
	{"NodeMissing", "a node is as the pod asks for, or the pod is created again", Reported},
	{"NodeNotReady", "the node is ready", Object},
	{"NodeUnknown", "the node of the pod is there", Object},
	{"NotRunning", "the pod is running", Asked},
	{"NotThere", "the kubelet creates the container", Object},
	{"OneByOne", "the container before is back", Asked},
	{"OutOfService", "the controller has taken the pod out of service", Object},
	{"Pace", "the node may start another probe", Behind},
	{"Pod", "the kubelet creates containers of the pod", Asked},
	{"Restart", "the container is started again", Object},
	{"RevisionMissing", "the controller of SidecarSets has written the revision", Object},
	{"Room", "the workload has another pod that is available", Asked},
	{"Runtime", "the container runtime answers", Object},
	{"Stop", "the container has stopped", Asked},
	{"TTLSecondsAfterFinished", "ttlSecondsAfterFinished are over", Asked},
	{"Unobserved", "the controller of SidecarSets has seen the present generation", Object},
	{"UnreadyGracePeriod", "unreadyGracePeriodSeconds are over", Asked},
	{"VirtualNode", "never: a virtual kubelet runs no agent", Asked},
}

// What the state of a pod, a node or a claim says.
const (
	// BadValue: a stored value cannot be used, which admission refuses for new ones.
	BadValue rollout.Rule = "BadValue"
	// Finalizer: the pod is being deleted, and has finalizers.
	Finalizer rollout.Rule = "Finalizer"
	// Terminating: the containers of the pod have not stopped yet.
	Terminating rollout.Rule = "Terminating"
	// SchedulingGated: the pod has scheduling gates.
	SchedulingGated rollout.Rule = "SchedulingGated"
	// Claim: the scheduler waits for a claim of the pod.
	Claim rollout.Rule = "Claim"
	// Unschedulable: the scheduler finds no node.
	Unschedulable rollout.Rule = "Unschedulable"
	// Image: an image cannot be pulled.
	Image rollout.Rule = "Image"
	// CrashLoop: a container ends again and again.
	CrashLoop rollout.Rule = "CrashLoop"
	// Config: a container cannot be created.
	Config rollout.Rule = "Config"
	// Rejected: the pod has ended, and none of its containers has run.
	Rejected rollout.Rule = "Rejected"
	// ReadinessGate: the containers are ready, and a readiness gate is not met.
	ReadinessGate rollout.Rule = "ReadinessGate"
	// Missing: the pod is not there.
	Missing rollout.Rule = "PodMissing"
	// NotReady: the pod is not ready, and nothing above says why.
	NotReady rollout.Rule = "NotReady"
	// MinReadySeconds: the pod is ready, and has not been for long enough.
	MinReadySeconds rollout.Rule = "MinReadySeconds"
	// FewAtOnce: pods that a repair deletes wait for others that it has deleted just now.
	FewAtOnce rollout.Rule = "FewAtOnce"
	// HostPort: the second pod of a surge wants a host port that the first one has.
	HostPort rollout.Rule = "HostPort"
	// SubsetHeldUp: the workload of a subset says that it is held up.
	SubsetHeldUp rollout.Rule = "SubsetHeldUp"
	// ClaimTooSmall: a claim that is there asks for less than its template, or its file system is still as small as it was.
	ClaimTooSmall rollout.Rule = "ClaimTooSmall"
	// PullSlot: the image waits for its turn among the pulls of the node.
	PullSlot rollout.Rule = "PullSlot"
)

var byRule = func() map[rollout.Rule]*Reason {
	rules := map[rollout.Rule]*Reason{}
	for i := range reasons {
		rules[reasons[i].rule] = &reasons[i]
	}
	return rules
}()

// Of returns the entry of a rule; one about the whole workload if the list has none.
func Of(rule rollout.Rule) Reason {
	if r := byRule[rule]; r != nil {
		return *r
	}
	return Reason{rule: rule, Ends: "the rule allows it", Scope: Whole}
}

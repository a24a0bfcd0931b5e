// SPDX-License-Identifier: Apache-2.0

package rollout

// Rule names what holds a pod back. The values are stable and meant to be
// compared, counted and shown.
type Rule string

// What holds back the update of a pod.
const (
	// RulePaused: the update is paused.
	RulePaused Rule = "Paused"
	// RuleOnDelete: the update strategy leaves it to others to delete the pod.
	RuleOnDelete Rule = "OnDelete"
	// RulePartition: the partition holds the pod at its revision.
	RulePartition Rule = "Partition"
	// RuleReplicas: enough pods are at the wanted revision; this one is surplus.
	RuleReplicas Rule = "Replicas"
	// RuleMaxUnavailable: too many pods are unavailable. Also holds back the
	// deletion of ready pods.
	RuleMaxUnavailable Rule = "MaxUnavailable"
	// RuleInPlaceUpdateHook: the inPlaceUpdate hook holds the pod before its update.
	RuleInPlaceUpdateHook Rule = "InPlaceUpdateHook"
	// RuleUpdatedHook: the pod is updated and waits for its inPlaceUpdate hook
	// to be met again.
	RuleUpdatedHook Rule = "UpdatedHook"
	// RuleGracePeriod: the pod is not ready already, and its containers change
	// when the grace period is over.
	RuleGracePeriod Rule = "GracePeriod"
	// RuleInPlaceUpdating: the node has not finished the in-place update.
	RuleInPlaceUpdating Rule = "InPlaceUpdating"
	// RuleResizeDeferred: the node has no room for the new cpu and memory of the pod now. The
	// pod serves with what it has, and holds up no other.
	RuleResizeDeferred Rule = "ResizeDeferred"
	// RuleResizeInfeasible: the node can never give the pod its new cpu and memory.
	RuleResizeInfeasible Rule = "ResizeInfeasible"
	// RuleSidecarUpdating: a SidecarSet updates a container of the pod; the update goes
	// on afterwards.
	RuleSidecarUpdating Rule = "SidecarUpdating"
	// RuleInPlaceOnly: the change cannot be made in place, and the strategy
	// forbids to recreate the pod.
	RuleInPlaceOnly Rule = "InPlaceOnly"
	// RuleRevision: the revision that pods are to be updated to can have none: its
	// template cannot be read, or the selector does not match it.
	RuleRevision Rule = "Revision"
	// RuleScaleFirst: pods are being created or deleted; the update goes on afterwards.
	RuleScaleFirst Rule = "ScaleFirst"
	// RuleRefused: the API server has refused the update of a pod; the next one is
	// tried after a while.
	RuleRefused Rule = "Refused"
	// RuleBudget: a budget has refused the update of the pod, or of
	// another one that it protects.
	RuleBudget Rule = "Budget"
	// RuleRefreshFirst: the state of pods is being written; the update goes on afterwards.
	RuleRefreshFirst Rule = "RefreshFirst"
)

// What holds back the creation or deletion of a pod.
const (
	// RuleScaleMaxUnavailable: scaleStrategy.maxUnavailable limits how many
	// pods are created at once.
	RuleScaleMaxUnavailable Rule = "ScaleMaxUnavailable"
	// RuleClaimInUse: the pod that used the claims of the new one before is
	// still there.
	RuleClaimInUse Rule = "ClaimInUse"
	// RuleCreateFirst: missing pods are created before any pod is deleted.
	RuleCreateFirst Rule = "CreateFirst"
	// RuleDeleteFirst: pods that are marked for deletion, or that are about
	// to be deleted, go before the workload is scaled in.
	RuleDeleteFirst Rule = "DeleteFirst"
	// RulePreDeleteHook: the preDelete hook holds the pod before its deletion.
	RulePreDeleteHook Rule = "PreDeleteHook"
	// RuleOrderedReady: pods come and go one at a time, in the order of their
	// ordinals. Another one is not there yet, not available or not gone.
	RuleOrderedReady Rule = "OrderedReady"
	// RuleNameTaken: another pod has the name that the new pod must have.
	RuleNameTaken Rule = "NameTaken"
	// RuleBackOff: the pod never ran, nor did those before it; the next one comes
	// after a while.
	RuleBackOff Rule = "BackOff"
	// RuleVolumeResize: the update of the pod waits until its claims have the size of their claim templates.
	RuleVolumeResize Rule = "VolumeResize"
	// RulePreNormalHook: the new pod waits for its preNormal hook to be met.
	RulePreNormalHook Rule = "PreNormalHook"
)

// Reason says why a pod waits: the rule, its number, and words. Pods
// that wait for the same reason share one Reason; do not change it.
type Reason struct {
	// Rule is what holds the pod back.
	Rule Rule
	// Limit is the number that the rule allows or demands; 0 if the rule has none.
	Limit int32
	// Observed is the number that meets the limit; 0 if the rule has none.
	Observed int32
	// Message says it in words, such as "maxUnavailable 2: 2 pods are
	// unavailable already".
	Message string
}

// String returns the message, or the rule if there is no message.
func (r *Reason) String() string {
	switch {
	case r == nil:
		return ""
	case r.Message != "":
		return r.Message
	default:
		return string(r.Rule)
	}
}

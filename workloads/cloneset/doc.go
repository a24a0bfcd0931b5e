// SPDX-License-Identifier: Apache-2.0

// Package cloneset manages CloneSets: a number of interchangeable pods that are
// updated in place if the change allows it, in portions that the spec sets.
//
// Every reconcile of a CloneSet has three steps. Observe reads the caches into a
// [Snapshot]. [NewPlan], a pure function, decides: a [Plan] lists the pods to
// create, to delete and to change. For each pod that should be updated and is not, it
// has the rule and the number that hold it. Apply applies the plan. So
// every decision can be called in a unit test, shown before it happens, and
// explained afterwards. [Diff] holds the numbers that a plan follows from: how many pods to create, to
// delete and to update.
//
// A reconcile waits until the caches have seen what earlier reconciles wrote. No decision
// depends on anything else that is remembered. A lost event or a pod that is gone
// before it was seen cannot stop a CloneSet.
//
// What a CloneSet does stands rule by rule in
// https://github.com/podwright/podwright/blob/main/workloads/cloneset/RULES.md
//
// Of OpenKruise 1.9 it has spec.progressDeadlineSeconds, with the condition Progressing, and the update type OnDelete. What
// releases after 1.4 do otherwise is switched by Features, see FeaturesOf.
//
// # Differences
//
// Manifests, pods and revisions are those of OpenKruise 1.4. If its
// behaviour harms users, this package does otherwise:
//
//   - A scaleStrategy.maxUnavailable that is no number, and hooks of labels and finalizers that no pod can
//     have, are refused.
//   - The condition HeldUp says what has been held up for a minute, by what, and since when. (CS-40)
//   - A pod that is recreated for an update is deleted at once, within the same
//     limits, instead of being labelled as marked for deletion first. The label
//     is only written if a preDelete hook holds the pod.
//   - No pod is updated to a template that the selector does not match.
//   - Labels and annotations that controllers own in each pod do not come from
//     the template; admission warns of them.
//   - Pods that kubelets reject again and again are replaced more and more
//     slowly, and the status says so.
//   - The readiness gate KruisePodReady is in the pod from its creation on. No
//     pod webhook is needed for it.
//   - With Features.LaunchPriority, the barriers by which containers start in
//     order are in the pod from its creation on. A launch priority that is no
//     integer is reported in the status, and costs no requests that must fail.
//   - A condition that appears, changes or goes is written to the status, even
//     when no counter changes.
//   - The conditions Reconciling and Stalled say, beside counters, whether the spec is reached. A new
//     generation is not called observed as long as its counters would mislead. Pods are counted by the reconcile that
//     creates them: consumers called a new CloneSet healthy for having 0 of 0 pods.
//   - If the name of a revision is too long for a label value, its hash is
//     written alone, also without Features.ShortHash.
//   - A claim whose former pod is still terminating is waited for without
//     sending requests that must fail. A claim whose former pod has failed is
//     kept aside while that pod exists, and the new pod gets claims of its own.
//     Otherwise that claim would block the CloneSet.
//   - While the update is paused, no surge pods are created for it.
//   - A pod that another workload controls is left alone. That holds also if it names the CloneSet
//     as a plain owner, so that it is collected with it.
//   - A pod that is released, since the selector no longer matches it, becomes the owner
//     of its claims first. They are removed together with it, and no new pod asks for
//     its name.
//   - For two minutes after it began, a manager annotates the claims that it reuses with
//     clonesets.podwright.io/reused-by. A deletion which the manager before it has sent,
//     and which comes late, does not take them from under the new pods.
//   - If a PodUnavailableBudget denies the eviction of a pod, and there is a maxSurge, another
//     pod is created first. The budget lets the old one go then.
//   - A claim that is deleted from under a pod without a node is created again:
//     the pod could never be scheduled.
//   - With disablePVCReuse, a claim that was made for a pod which the API server refused is
//     used for the next pod. Otherwise it would be deleted and made again in every reconcile.
//   - While no pods can be created from the current revision, those of the update revision
//     are, within scaleStrategy.maxUnavailable. None comes in the place of the others.
//   - Pods marked for deletion that are not ready, or not for minReadySeconds, count against
//     maxUnavailable too. So available ones marked for deletion beside them wait.
//   - While pods are missing that are not created now, since scaleStrategy.maxUnavailable or
//     the API server holds them back, two kinds are deleted. They are pods marked for deletion that are not ready, and
//     pods in the state PreparingDelete that no hook holds any more.
//   - While the API server refuses to create or to delete pods, others are updated.
//   - A template is validated by the API server itself, by a dry run. So it
//     is judged by the release that has to accept the pods. If the dry run gives no
//     verdict, the CloneSet is allowed with a warning.
//   - An update that does not change the spec is never refused; a template that
//     did not change is not judged again.
//   - A negative percentage as partition is refused, also if it would round to 0.
//   - Pod fields that are newer than Kubernetes 1.22 are part of revisions and pods.
//   - A pod in the state PreparingUpdate goes back when the partition is raised and holds it back. It also goes back when the
//     template becomes one that InPlaceOnly cannot bring it to. Otherwise it would stay unavailable, with markPodNotReady out of
//     service.
//   - A pod in the state PreparingUpdate does not wait for maxUnavailable: it is out
//     of service already, and scaleStrategy.maxUnavailable may wait for it.
//   - A CloneSet in deletion writes nothing but its status; the rest is for the
//     garbage collector.
//   - Pods that the garbage collector deletes are not created once more, whichever
//     cache is behind. If pods are gone that the status counts, or the current
//     revision is, the status is written first. Nothing is created if that
//     shows that the CloneSet is gone.
//   - If the last write of an update in place is refused, or gets no answer, the
//     next update is tried after a second. Each further one waits twice as long, up to 5
//     minutes. A new generation is tried at once. A dry run goes before the write that
//     takes the pod out of service then, and other pods need not wait for it.
//   - If the template changes before a status was written, pods of the former
//     template are known as those of the current revision. So the partition
//     holds, and new pods for it are made from that template.
//   - status.currentRevision moves to the update revision only when all wanted pods are there, if the partition holds any back.
//     Otherwise those would come back updated after they were evicted. It does not move either while a raised partition sends pods
//     back, even if InPlaceOnly does not let them go: a condition says so.
//   - With the rollback of a raised partition on, pods change only from a
//     revision that has too many pods to one that has too few. Otherwise one is
//     restarted, and later updated again.
//   - An update that comes to a pod which must wait goes on with the pods behind it.
//     Otherwise, with a priority strategy, which puts broken pods anywhere, one of them would stop
//     it for good. Pods that are missing narrow maxUnavailable for available pods
//     alone. One pod that is unavailable may always be updated: what is missing may wait for it.
//   - One pod's failure does not stop the others of the same reconcile, except that
//     creation slows down.
//   - Surplus pods that are ready, and only wait for minReadySeconds, are scaled in at once, as long as enough pods
//     are ready without them. A workload that was scaled in would wait for minReadySeconds otherwise.
//   - If the API server refuses to create the revision of a new template, missing pods come from the
//     current one, and only the update waits. Otherwise lost pods would not be replaced.
//   - A budget that allows no update holds up no pod of another budget: its pods come after all others.
//   - No update in place begins on a pod whose node cannot be reached. When that has lasted for 5 minutes, the pod is recreated for the
//     update, unless the type is InPlaceOnly or the pod has claims. Otherwise the others would wait for it for ever.
//   - With the switch PercentSigns of the webhook, a stored "30" for "30%" can stay while something else changes. Fractions such as
//     12.5%, which OpenKruise reads as 0, are refused. (CS-V11)
package cloneset

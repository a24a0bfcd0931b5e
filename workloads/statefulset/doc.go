// SPDX-License-Identifier: Apache-2.0

// Package statefulset manages StatefulSets (apps.kruise.io): a number of pods
// with names, claims and an order of their own. They are updated in place if
// the change allows it.
//
// Every reconcile of a StatefulSet has three steps. Observe reads the caches into
// a [Snapshot]. [NewPlan], a pure function, decides: a [Plan] lists the pods to
// create, to delete and to change. For each pod that should be updated and is not, it
// has the rule that holds it. Apply applies the plan. So every decision
// can be called in a unit test, shown before it happens, and explained
// afterwards.
//
// In all that is not said here it does as the StatefulSet of Kubernetes
// (apps/v1) does. That covers names and identity of pods and claims, ordered and parallel
// start, rolling updates from the highest ordinal down, adoption, history.
//
// A reconcile waits until the caches have seen what earlier reconciles wrote. What others
// write to objects of two kinds may be seen in any order. A change of the
// StatefulSet can be applied before the controller sees that a pod turned
// unready just before, as in Kubernetes. What the status counts has been seen.
// No decision depends on anything else that is remembered. A lost event or a pod
// that is gone before it was seen cannot stop a StatefulSet.
//
// What a StatefulSet does stands rule by rule in
// https://github.com/podwright/podwright/blob/main/workloads/statefulset/RULES.md
//
// # Differences
//
// Manifests, pods, claims and revisions are those of OpenKruise 1.4, and what later releases added is switched on by [Features]. If its
// behaviour harms users, this package does otherwise:
//
//   - Names and service names with which no pod can be created, and hooks of labels and finalizers that no
//     pod can have, are refused.
//   - The condition HeldUp says what has been held up for a minute, by what, and since when. (STS-29)
//   - A broken update can be taken back, or corrected, without deleting pods by hand. If nothing else could be updated, since
//     OrderedReady waits or maxUnavailable is used up, a pod that is not ready is updated nevertheless. Its revision must be wanted
//     no more, or its deletion or update must be under preparation. One of the current revision is updated too when the update goes
//     back to an older one, or no pod is available at its revision. It is also updated when all pods above it are updated and
//     available, or with Parallel wait for it. Pods that are ready are never updated for this. Pods of the current revision are not
//     either while pods have the update and none of them is available. So an outage lets no bad image out. With unorderedUpdate the
//     partition holds no pod back if current and update revision are the same.
//   - maxUnavailable counts all wanted pods that do not serve before one that is ready is taken for the update. It counts
//     those beyond the partition and the walk, and those that hooks have taken aside, too. Pods that do not serve are
//     updated meanwhile. OpenKruise counts all from 1.5.5 on, and ends the walk there.
//   - With OrderedReady a pod whose deletion a hook has prepared goes when the hook
//     releases it. It goes although the hook has taken it and a lower one out of service.
//   - With OrderedReady pods that are left over and have ended, which never get ready
//     again, go without waiting for one another.
//   - A pod whose in-place update cannot begin, since its record is corrupt or it
//     lacks a container, is recreated with InPlaceIfPossible. With InPlaceOnly it is
//     passed over and reported, and the update of the others goes on.
//   - No pod is updated to a template that the selector does not match.
//   - Which claims go with a pod that is scaled down follows from the ordinals
//     that are wanted, not from the number of replicas alone. With reserved
//     ordinals a pod that stays keeps its claims, and so does one whose ordinal
//     was reserved.
//   - A pod in the state PreparingDelete whose ordinal is wanted again, or whose
//     update is paused or undone, is taken back. If markPodNotReady forbids
//     that, it is deleted and replaced once its hook releases it. It is deleted in order, within
//     maxUnavailable, and while the update is paused only if it is out of service
//     and comes back unchanged.
//   - Progress of in-place updates and hooks is written down for every pod. That holds also
//     when the StatefulSet is paused, of the type OnDelete, or waits for a pod
//     of a lower ordinal.
//   - A pod that ended in the phase Succeeded is recreated as a Failed one is. The
//     replacement is created when the former pod is gone, not before.
//   - A pod that ends without having run, as one that its kubelet rejects, is
//     recreated at once the first time. Then it is recreated after 1 second, 2, 4 and so on, up
//     to 5 minutes.
//   - With Parallel, all pods that are left over are deleted in one reconcile. A
//     pod whose claim is about to be deleted does not hold up the others.
//   - A claim that goes with a former pod, or with a former StatefulSet of the
//     same name, is waited for, whatever the retention policy says.
//   - Pods that lack a claim of the template are reported without requests that
//     must fail, and nothing else waits for them. A claim that was deleted from
//     under a Pending pod is created again.
//   - Owners of claims are kept claim by claim. That holds also if a pod lacks another claim,
//     and if the claim template is gone from which its claim was made.
//   - A claim that no pod of the StatefulSet mounts loses it as an owner when
//     claims no longer go with it by the retention policy.
//   - A claim that something else controls, or that a former StatefulSet of the
//     same name owns, is left alone.
//   - The readiness gate KruisePodReady is in the pod from its creation on. No
//     pod webhook is needed for it. Pods also get the label
//     apps.kubernetes.io/pod-index, as newer releases of Kubernetes have it. An update in place leaves the
//     labels that name a pod alone, whatever the template says.
//   - With Features.LaunchPriority, the barriers by which containers start in
//     order are in the pod from its creation on. A launch priority that is no
//     integer is reported in the status, and costs no requests that must fail.
//   - A condition that appears, changes or goes is written to the status, even
//     when no counter changes; so is updatedReadyReplicas.
//   - The conditions Reconciling and Stalled say, beside counters, whether the spec is reached. Consumers that know no
//     more of a kind than its conditions took an update in progress for its end.
//   - If the name of a revision is too long for a label value, its hash is
//     written alone.
//   - A template is validated by the API server itself, by a dry run. So it
//     is judged by the release that has to accept the pods. If the dry run gives no
//     verdict, the StatefulSet is allowed with a warning. With InPlaceOnly
//     nothing of the pods' spec may change but images.
//   - An update that does not change the spec is never refused; a template that
//     did not change is not judged again.
//   - A v1alpha1 StatefulSet is judged with the fields that only v1beta1 has.
//   - Pod fields that are newer than Kubernetes 1.22 are part of revisions and pods.
//   - A pod in the state PreparingUpdate goes back when the partition is raised and holds it back. It also goes back when InPlaceOnly
//     does not let it go to a new template. Otherwise it would stay unavailable, with markPodNotReady out of service.
//   - A pod in the state PreparingUpdate does not wait for maxUnavailable, nor for its
//     turn with OrderedReady. It is out of service already, and others may wait for it.
//   - Pods that the garbage collector deletes are not created once more, whichever
//     cache is behind. If pods are gone that the status counts, or the current
//     revision is, the status is written first. Nothing is created if that
//     shows that the StatefulSet is gone.
//   - If the last write of an update in place is refused, or gets no answer, the
//     next update is tried after a second. Each further one waits twice as long, up to 5
//     minutes. A new generation is tried at once. A dry run goes before the write that
//     takes the pod out of service then.
//   - If the template changes before a status was written, pods of the former
//     template are known as those of the current revision. So the partition
//     holds, and new pods for it are made from that template.
//   - status.currentRevision moves to the update revision only when all wanted
//     pods are there and available. A broken update of the only pod would become the current one
//     otherwise. Also, those that a partition holds back would come back updated after they were evicted.
//   - One pod's failure does not stop the others of the same reconcile, except that
//     creation slows down.
//   - If the API server refuses to create the revision of a new template, missing pods come from the
//     current one, and only the update waits. Otherwise lost pods would not be replaced.
//   - Of what came with OpenKruise 1.5 to 1.9: a reserved range that cannot be read changes nothing, and is named. OpenKruise
//     then reserves nothing at all. A start of ordinals below 0 is refused. A pod that is marked for deletion is deleted once. With
//     UpdateUnavailable a pod that has to wait does not end the walk, and broken ones below it are updated. (STS-31 to STS-35)
//   - A claim that cannot grow holds up its own pod alone. One whose file system grows when its pod starts anew holds up nothing, and
//     a claim whose resize failed can ask for less again. OpenKruise stops. (STS-42, STS-43)
package statefulset

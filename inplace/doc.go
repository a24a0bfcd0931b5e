// SPDX-License-Identifier: Apache-2.0

// Package inplace changes running pods instead of replacing them. It decides
// whether a pod can go from one revision of its template to another in place,
// and takes it there step by step.
//
// [Compare] answers for two templates whether containers restart or the pod is
// recreated. [Calculate] answers the same for two ControllerRevisions, with
// what has to be written. [Begin] starts the update of one pod, [Refresh]
// continues it until the pod is back in service, and [Complete] tells whether
// it is done. All of them are pure functions: they read objects that they
// never change, and put what to write into a [podpatch.Patch].
//
// # How a pod is updated
//
// Only container images, labels, annotations and finalizers can change in
// place and, with [CalculateOptions.Resize], cpu and memory of containers. While
// they do, the readiness gate InPlaceUpdateReady keeps the pod out of service:
//
//  1. Begin: the condition InPlaceUpdateReady becomes False, and Ready with it;
//     then the pod gets the record of the update and the change itself.
//  2. The kubelet restarts the containers with new images. Containers whose
//     environment refers to a changed label or annotation are restarted by the
//     node agent.
//  3. Refresh: the containers are found to run what the pod says, and the
//     condition becomes True.
//
// With a grace period the change is recorded with Begin and made by a later
// Refresh. So the pod is out of service for a while before its containers
// stop. With launch priorities the containers change in batches, and Refresh
// starts a batch when the containers of the one before it are ready.
//
// New cpu and memory are requested of the node last. If no container restarts for
// them, and nothing else restarts one, the pod stays in service ([KeepsServing]). It
// also is in service while a node has no room for them. [Unresized] tells of pods that
// never get them.
//
// A pod without the readiness gate takes the same steps, except for conditions.
//
// # Records in the pod
//
// The progress stands in annotations of the pod and nowhere else, so any
// process can continue what another has begun. Their JSON is that of OpenKruise
// 1.4, with exceptions that no reader notices. Metadata inside of it has no
// "creationTimestamp":null. The state has keys of its
// own. lastContainers says which containers ran when their images were replaced,
// and nextContainerResources holds what they have still to get.
//
// What is done stands rule by rule in
// https://github.com/podwright/podwright/blob/main/inplace/RULES.md
//
// # Differences
//
// From OpenKruise 1.4, if its behaviour hurts:
//   - A new update on a pod whose earlier one is still running inherits what
//     that one has not done yet. Otherwise containers that wait for their batch
//     would keep an image of a revision before the last. A pod would return
//     to service with a container still to be restarted.
//   - Begin refuses a pod in its grace period, for every kind of workload. The
//     change that waits would be lost.
//   - A pod that another manager puts back into service during its grace period
//     begins its update, or its grace period, anew. Its containers are not
//     changed in service.
//   - Begin refuses a pod that lacks a container of the update.
//   - Of a template's metadata only labels, annotations and finalizers count,
//     since nothing else of it reaches a pod. A changed metadata.name of a
//     template would otherwise be sent to the API server, which rejects it.
//   - When a template loses its last annotation or finalizer, pods lose that
//     one. A patch between the templates as a whole would take all the others
//     that a pod has, too.
//   - Templates are compared by meaning: 1Gi and 1073741824 are the same
//     memory, and a template stored without metadata can be updated in place.
//   - Image references are compared in full: a runtime that reports
//     docker.io/library/nginx:1.21 runs nginx:1.21.
//   - The recorded image ID in another container completes an
//     image's change of name: runtimes report one name of an image for all.
//   - A container does not count as updated by an image ID alone that came after nothing: it had not been started when the update
//     began. An image ID of an earlier update which was not complete does not count either. The container does not count before it
//     was started, or while the kubelet reports on an older generation of the pod.
//   - Containers that the kubelet identifies by name and image only, as it does
//     since Kubernetes 1.31, are recognised by the hash too.
//   - No update begins while sidecars of the pod are updated, for 5 minutes at most: package
//     rollout names that RuleSidecarUpdating.
//   - An update whose image a policy has put back to one from before is not complete. The pod
//     does not count as updated, and the update is tried again, ever more rarely.
//   - Images are written on the condition that the pod has not changed since it was
//     read. The image IDs recorded with them would otherwise be outdated.
package inplace

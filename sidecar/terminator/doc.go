// SPDX-License-Identifier: Apache-2.0

// Package terminator ends the sidecars of pods that run to completion, once their main containers
// have finished. Without that, a Job with a sidecar never completes.
//
// A container is marked as a sidecar by an environment variable, in the template of the Job or by a
// SidecarSet. One is stopped by a ContainerRecreateRequest, which the agent of the node serves.
// Another gets an image that exits at once, which needs no agent and so works on virtual nodes too.
// Native sidecars need none of this, and are left alone.
//
// Every reconcile of a pod has three steps. Observe reads pod, node and request from
// caches into a [Snapshot]. [NewPlan], a pure function, decides. Apply sends what the
// plan says. A sidecar that exits with 0 when it is told to costs one request, a pod
// without sidecars, or whose main containers run, none.
//
// What is done stands rule by rule in
// https://github.com/podwright/podwright/blob/main/sidecar/terminator/RULES.md
//
// # The phase of the pod
//
// The kubelet makes the phase of a pod out of the exit codes of all its containers. A sidecar may
// not exit with 0 when it is stopped, but with 143, or with 137 since it does not know SIGTERM. So
// it decides what has become of the work of others. With the restart policy Never the pod fails.
// With OnFailure the sidecar is started again and the pod never ends. Only the main containers
// decide here. If the kubelet would come to another phase than theirs, the Controller writes it
// into the pod's status, and says so in the condition SidecarTerminated. An annotation that changes
// with it has the kubelet act at once. A kubelet never changes a final phase that it knows; it ends
// what still runs, with preStop hooks and the grace period of the pod.
//
// A pod with a final phase no longer counts for scheduler and Job, although its sidecars
// run for up to the grace period. So the phase is written late, or never:
//
//   - With OnFailure, when the sidecar has been stopped and comes back. Many exit with
//     0, and then nothing is written at all.
//   - With Never, when all main containers have succeeded, at once, before the request: the exit
//     code of the sidecar comes too late to decide. The request follows once the kubelet shows that
//     it knows the phase, after 30 seconds at the latest. Before that the kubelet would still fail
//     the pod. A container-level restart policy OnFailure, or restart rules for all exit codes but
//     0, make such a sidecar one that comes back. Then this is late as well.
//   - When nothing else ends the sidecar: no agent answers, or the image that it is to
//     exit with cannot be pulled.
//
// Between a written phase and the end of the sidecars the scheduler takes their resources for free.
// The kubelet does not: it refuses a pod that does not fit beside them. Features.LeavePhase is the
// better choice if nodes are full to the brim and all sidecars exit with 0. Pods with a sidecar that asks
// that its exit code be ignored are given their phase even then.
//
// With OnFailure, Kubernetes counts restarts towards the backoffLimit of a Job. A limit of 0 or 1
// does not go together with sidecars that get an image, or that exit otherwise than with 0.
//
// # Differences
//
// Compared with OpenKruise 1.4, on the same environment, requests and events:
//
//   - The phase, as above. A Job whose sidecar exits with 137 is Complete.
//   - The restart policies and rules that containers have of their own are known. A main container
//     that the kubelet is about to start again has not finished.
//   - An image is set by one small patch, and not again with every change of the pod.
//   - A request that is deleted while the sidecar runs is created again at once.
//   - A node that the cache does not know yet is looked for again.
//   - What the API server refuses, a PodUnavailableBudget for example, is recorded in an
//     event about the pod.
package terminator

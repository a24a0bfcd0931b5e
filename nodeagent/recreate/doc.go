// SPDX-License-Identifier: Apache-2.0

// Package recreate is the node's half of ContainerRecreateRequests. It stops the
// containers that a request names, so that the kubelet starts them again, and
// says how far it is. The other half, in the cluster, is the package
// lifecycle/recreate.
//
// One request at a time acts on a pod; the others say that they wait, and each
// has its turn. Containers are stopped one after the other, in the order of the
// request, as the kubelet would: preStop hook, grace period and all.
//
// Every reconcile of a pod has three steps. Observe reads its requests from a cache
// and its containers from the runtime into a [Snapshot]. [NewPlan], a pure
// function, decides: a [Plan] has the status to write, the container to stop
// then, and what everything else waits for. Apply applies the plan.
//
// While a hook or a stop is under way its container is Pending; its state changes when the stop has returned. An agent can be killed at
// any moment all the same. The next one tells by the IDs of containers which were replaced, and goes on. It does not stop the container
// that has taken the place of one that was stopped. A container that was about to end is told so once more, with its hook and the whole
// grace period.
//
// What manager and agent do stands rule by rule in
// https://github.com/podwright/podwright/blob/main/lifecycle/recreate/RULES.md
//
// # Differences
//
// Requests, and what stands in their status, are those of OpenKruise 1.4. If
// its agent harms users or costs much, this one does otherwise:
//
//   - A request is not trusted. Who may create one need not be who may run commands
//     in the pod. If no webhook is called every field of it is the user's. The
//     labels that the kubelet gave to sandbox and containers have to name the pod of
//     the request, in its namespace. The preStop hooks and their ports are those that
//     the kubelet recorded of a container, not the copies in the request. Containers
//     of static pods are left alone.
//   - A request that is completed or deleted ends the wait for its container. The hook
//     is cut short, or the container is no longer killed at the end of its grace
//     period. None waits for more than Options.MaxGracePeriod. A worker was held for
//     as long as a request asked, years if it liked. One namespace gets three quarters
//     of the workers that the others leave.
//   - The event about a hook that failed has neither its output nor its address: the
//     log has what is needed.
//   - Before forceRecreate stops a container, its name and ID are written into an
//     annotation of its own (crr.podwright.io/stopping). An agent that ended in
//     between would otherwise stop the new container as well.
//   - A container counts as replaced by its ID alone. Its start was compared with
//     the creation of the request, which has whole seconds. A request made within
//     a second of the start of a container was completed without stopping it.
//   - While a container is being stopped, which may take minutes, new requests for its
//     pod are answered. Requests for other pods are answered when all workers are busy.
//     They were completed for want of an answer.
//   - unreadyGracePeriodSeconds count from when the agent learns that the pod is out
//     of service, by its own clock, and anew when it is started again. The time in
//     the request is that of another clock. It is never shorter than asked for.
//   - A runtime that is being restarted is waited for; no container counts as
//     failed by it.
//   - Steps that follow one another are one write: a request for one container
//     costs three.
//   - A status is not written over one that has changed meanwhile: a request that
//     was completed by its deadline stays so.
//   - A container that has to run for minStartedSeconds is looked at again when it
//     will have, not after as many seconds each time.
package recreate

// SPDX-License-Identifier: Apache-2.0

// Package recreate manages ContainerRecreateRequests (apps.kruise.io): each
// stops containers of one pod once, so that the kubelet starts them again.
//
// The work is shared. A [Webhook] checks a new request and copies from the pod
// what a node agent needs to know. The agent of the pod's node stops the
// containers and says how far it is. The [Controller] of this package does what
// an agent cannot. It takes the pod out of service before and puts it back after,
// and tells of readiness. It ends requests that an agent does not end: the pod is
// gone, no agent answers or goes on, the deadline is over. Last it removes requests whose
// time to live is over.
//
// Every reconcile of a request has three steps. Observe reads the caches into a
// [Snapshot]. [NewPlan], a pure function, decides: a [Plan] lists the writes in
// their order, and says why and what is waited for. Apply applies the plan.
//
// A pod is taken out of service in three writes. The request gets a finalizer,
// the pod's condition KruisePodReady gets a key, and the time is written
// into the request. It comes back in the opposite order. So wherever that is cut short, the
// finalizer is there as long as the key may be, and the next manager goes on.
//
// What manager and agent do stands rule by rule in
// https://github.com/podwright/podwright/blob/main/lifecycle/recreate/RULES.md
//
// # Differences
//
// Requests, pods and node agents of OpenKruise 1.4 are understood, and find what
// they expect. If its behaviour harms users or costs much, this package does
// otherwise:
//
//   - A pod is taken for gone, and a key for removed, only if the API server
//     itself says so. A cache that is behind does not complete the request for a
//     new pod, and leaves no pod out of service.
//   - Requests for static pods are refused, and if no webhook is called completed
//     with a message. For the kubelet such a pod has another UID than for the API
//     server.
//   - A container counts as replaced by its ID, and not by when it was started,
//     which the clock of its node says in whole seconds.
//   - The time to live counts from when a manager saw that the request was
//     completed, which it writes into an annotation of its own
//     (crr.podwright.io/completion-seen). The completion may be by the clock of a
//     node. Deadlines count from when a manager first saw the request, by its own
//     clock. They counted from the creation, by the clock of the API server: a
//     manager whose clock is a minute ahead ended every request at once. One that
//     is started again counts anew, but only for requests younger than 15 minutes.
//   - A node agent that does nothing for 10 minutes while a pod is out of service for
//     it is taken for gone. What the request has it wait comes on top. The request is
//     completed for want of an answer, and the pod comes back. It stayed out for ever.
//   - The unready step never shortens unreadyGracePeriodSeconds: the time from
//     which it counts is rounded up to whole seconds.
//   - Two changes of one request are one write if their order allows it. No
//     write is repeated on a conflict without a look at what there is by then.
//     Finalizers of others are never lost.
//   - That no container has been started yet is not written down before
//     another thing was: no annotation stands for an empty list.
//   - A request that has no time to live after its completion is deleted at once, with
//     its label. One that was completed, and is past its time, before the manager was
//     started is deleted, too.
//   - A refused request is told of everything that is wrong with it, not only of
//     what was found first.
//   - A client that does not know a kind of preStop hook can write a request
//     back. That its spec lacks the hook then is no change.
//   - Until the end the message of the status says what has held a request up for a
//     minute, by what, and since when. (CRR-7)
//
// The release notes of OpenKruise promise that at the deadline the containers
// that are not back count as failed. As in 1.4 itself, they do not here. The
// states are the node agent's, which may be in the middle of stopping one, and
// Failed says that a container could not be stopped. The message of the request
// tells that it was cut short.
package recreate

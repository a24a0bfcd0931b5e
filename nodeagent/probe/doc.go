// SPDX-License-Identifier: Apache-2.0

// Package probe runs the probes of the pods on a node, beside those of the kubelet.
//
// The NodePodProbe of the node says which: package nodepodprobe of the cluster's half manages it. This package runs commands
// through the container runtime, asks servers in pods over HTTP, connects to their ports, and reports in the status.
//
// Every reconcile has three steps. Observe reads the NodePodProbe from a cache, and what the agent remembers of its probes,
// into a [Snapshot]. [NewPlan], a pure function, decides: a [Plan] lists the probes to run now, the status to write, and what
// every other probe waits for. Apply applies the plan. A run goes on by itself; after, which is pure too, says what is
// known after it, and its end enqueues the NodePodProbe.
//
// The status is written when a state or its message changes, and not otherwise: while nothing changes, the API server has no request. Pods are
// not read. Nothing is kept on disk: an agent that is started again goes on with what the status says.
//
// What a node spends is bounded, whatever markers ask for: [Limits].
//
// What manager and agent do stands rule by rule in
// https://github.com/podwright/podwright/blob/main/lifecycle/probe/RULES.md
//
// # Differences
//
// From the agent of OpenKruise 1.4:
//
//   - httpGet and tcpSocket are run, too, to the address that the runtime has for the pod. A pod without an address waits. What
//     has a host is not run, and redirects are not followed.
//   - The status is written and events are recorded when a state changes; 1.4 does so after every probe. Other messages
//     of a state are written at most once in 10 seconds. So lastProbeTime is that of the run that has changed the state or its message.
//   - What a command prints is the message of its state, up to a KiB, as in 1.4. It goes into no event, and into no status if the probe
//     has hideOutput. What servers and runtimes say goes nowhere.
//   - Results are those of one probe and one container. 1.4 keeps one pending result per container, which several probes overwrite.
//   - Another period counts from the next run on.
//   - An agent that is started again keeps the states of containers that were there before; 1.4 reports all as Unknown.
//   - A container that was created and not started has not failed. One that is too young for a probe is probed when it is old enough.
//   - Runs are bounded in number, by second and at the same time, and every call to the runtime has a deadline.
//   - The runtime is the one that the kubelet uses, see nodeagent.Find, not the first that is found.
package probe

// SPDX-License-Identifier: Apache-2.0

// Package probe has containers of pods probed, beside the probes of the kubelet, and writes what comes out on the pods. It
// holds no code of its own:
//
//   - podprobemarker manages PodProbeMarkers, in which users say which containers of which pods to probe, and what to make of
//     the results.
//   - nodepodprobe manages NodePodProbes, one per node, which hold the probes of the pods of the node and what its agent
//     reports of them.
//
// What a node probes follows from its pods and the markers that select them: nodepodprobe alone writes it, whatever changes.
// The agent of the node, [github.com/podwright/podwright/nodeagent/probe], runs the probes and writes the status. Package
// nodepodprobe writes a result to its pod as a condition, as labels and as annotations, in one request. Both controllers run in the same
// program, with the same caches or with caches of their own.
//
// A workload sees the result in a place that it reads anyway. It finds its deletion order in the annotation
// controller.kubernetes.io/pod-deletion-cost, a lifecycle hook in a label, a readiness gate in a condition.
//
// What manager and agent do stands rule by rule in
// https://github.com/podwright/podwright/blob/main/lifecycle/probe/RULES.md
//
// # Differences
//
// From OpenKruise 1.4:
//
//   - The condition HeldUp of a marker says what has been held up for a minute, by what, and since when. Its list of conditions is a field
//     of ours. (PPM-2.7)
//   - Probes may be httpGet and tcpSocket too, as in later versions, and never have a host. An agent would ask it from its node,
//     even if the user may not reach it.
//   - The probes of a node are computed as a whole. Those that a marker has no more are taken away. Those of pods that do not
//     match any more are taken away, too, and those of a marker that is gone by force. A NodePodProbe that comes later has its
//     probes at once.
//   - The end of a marker takes its own probes away: those of its exact name, in its namespace. 1.4 also takes those of markers
//     whose names end in its, and of its namesakes in other namespaces.
//   - A result that is not known is the status Unknown of the condition, not False as in 1.4, and changes no label or
//     annotation. So a hook that holds a pod goes on to hold it. A readiness gate, which asks for True, sees no difference.
//     1.4 removes the keys of the policy that happens to be the last.
//   - What one probe sets no other removes, whichever of them stands first.
//   - No probe writes a condition of Kubernetes' own or of podwright's, nor keys that controllers own in pods: admission refuses them. 1.4
//     writes Ready in turn with the kubelet.
//   - A marker whose containers no pod has is told so by an event.
//   - What another client changes about a result on a pod is put right, after 10 seconds at the earliest if it was done before.
//   - The message of a condition follows what the command prints, at most once in 10 seconds. 1.4 keeps the first one as long as the
//     status stays. A marker may hide it (hideOutput): who may read a pod need not be allowed to run commands in it.
//   - On virtual nodes what another state has set goes, as on others, and what is handed over in annotations has a bound. No probe that is
//     to hide its output is, since no provider knows that field. (PPM-1.7, PPM-3.9)
//   - A marker with an empty selector, from before admission, selects nothing.
package probe

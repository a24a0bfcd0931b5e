// SPDX-License-Identifier: Apache-2.0

// Package nodepodprobe manages NodePodProbes, one per node. It has the pods of the node probed as PodProbeMarkers say. It writes
// what the agent of the node reports to these pods, as a condition, labels and annotations, in one request for each pod.
//
// Every reconcile of a node has three steps. Observe reads the caches into a [Snapshot]. [NewPlan], a pure function, decides. A
// [Plan] has what the NodePodProbe should ask for, the patches of pods. And it has, for each probe that is taken away and each result
// that is not written, the reason. Apply does what the plan says. A reconcile waits until the caches have seen what earlier ones
// of the same node wrote.
//
// What changes no plan costs nothing: heartbeats of nodes, reports of kubelets, and probes that go on to say the same.
//
// What it does stands rule by rule in
// https://github.com/podwright/podwright/blob/main/lifecycle/probe/RULES.md
//
// What it does otherwise than OpenKruise stands in package [github.com/podwright/podwright/lifecycle/probe].
package nodepodprobe

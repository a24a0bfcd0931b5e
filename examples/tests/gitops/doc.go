// SPDX-License-Identifier: Apache-2.0

// Package gitops holds what the controllers write to what programs make of it that know no more of a kind than its JSON.
// These programs are Argo CD, whose own health checks judge the status; kstatus, which Flux and Helm ask; and Karmada.
// It holds only tests, and is a module of its own, since users who copy from the examples do not need Argo CD.
//
// What they show is theirs to choose. Good to know is:
//
//   - Argo CD calls a CloneSet, a StatefulSet or a DaemonSet healthy when all pods that there are, are updated and
//     available. It does not read spec.replicas. Of a StatefulSet whose pods are created one after the other, the first
//     one is all that there are for a moment.
//   - It calls a CloneSet suspended that waits for its user, by a partition or since it is paused. It calls a
//     StatefulSet or a DaemonSet that a partition holds back progressing, for ever.
//   - It calls an AdvancedCronJob degraded until its first job has run.
//   - Its checks read fields that users may leave out and the webhooks fill in. So do the CRDs of
//     workloads.CRDsWithDefaults, which the example manager installs, if no webhook does. Those of workloads.CRDs have no
//     defaults, as those of OpenKruise have none. With them and without webhooks, write spec.updateStrategy.partition: 0
//     into CloneSets, and spec.updateStrategy.rollingUpdate with partition: 0 into StatefulSets and DaemonSets. Without,
//     the checks fail, or a CloneSet is shown as suspended after its first change. The check of a StatefulSet of the type
//     OnDelete, which may have no rollingUpdate, and that of an AdvancedCronJob without a status always fail.
//   - kstatus takes an object for current once its status is about the newest spec, unless a condition Reconciling or
//     Stalled says otherwise. CloneSets, StatefulSets and DaemonSets have Reconciling until the spec is reached. Flux and
//     Helm wait for the update, but not for pods that a partition holds back, or that OnDelete leaves to users. They do
//     wait for an update that is paused. The three kinds have Stalled if the spec cannot be read, and CloneSets also when
//     their progress deadline is exceeded. Jobs have neither: they are there when they are accepted, but for a
//     BroadcastJob that has failed, which is Stalled. Helm's older way of waiting, --wait=legacy, does not look at any of
//     them.
//   - kstatus takes the kinds of the other areas, as of sidecars and budgets, for current once their status is about the newest spec.
//     Argo CD has no check of such kinds, and shows no health. So neither waits for the update of sidecars. "kubectl podwright rollout
//     status" does, and the condition HeldUp says what has held an object up for a minute.
package gitops

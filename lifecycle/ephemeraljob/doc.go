// SPDX-License-Identifier: Apache-2.0

// Package ephemeraljob manages EphemeralJobs: it injects ephemeral containers into
// pods, a limited number at a time, and tells how they ended.
//
// Every reconcile of a job has three steps. Observe reads the caches into a
// [Snapshot]. [NewPlan], a pure function, decides. A [Plan] lists the pods that get their
// containers now, and for each pod that waits the rule and the number that hold it.
// Apply does what the plan says. So every decision can be called in a unit test, shown
// before it happens, and explained afterwards.
//
// A reconcile waits until the caches have seen what earlier ones of the same job
// wrote. It never waits for the writes of other jobs, nor for kubelets.
//
// What a job does stands rule by rule in
// https://github.com/podwright/podwright/blob/main/lifecycle/ephemeraljob/RULES.md
//
// # Differences
//
// Jobs are those of OpenKruise 1.4, and so is what marks their containers. If its
// behaviour harms users, this package does otherwise:
//
//   - As many pods as parallelism says have containers under way, those that wait to be
//     started among them. In OpenKruise those do not count, and the last pods are slow.
//   - A pod that the API server refuses does not hold up others, and neither does one that
//     runs nowhere. Before the first pod is touched, a dry run asks whether it would be
//     refused; the condition InjectionRefused and events say why.
//   - A job ends when all of its pods have: as failed if one has failed, also if
//     replicas asks for more pods than there are. In OpenKruise such a job never ends.
//   - What is wrong with a spec stands in the status, and concerns no other job. In
//     OpenKruise a template that cannot be decoded stops all jobs of the cluster.
//   - A job that ends while it is paused has ended, and at its deadline nothing is injected
//     any more.
//   - Pods that have containers of the job stay its targets, whatever older pods come to be
//     selected.
//   - status.podResults holds exit codes and termination messages; status.skipped and the
//     condition NamesTaken tell of pods that are left out; status.observedGeneration is there.
//   - With the annotation ephemeraljobs.podwright.io/unique-names, containers have names that
//     no other job has: the same pods can be debugged again.
//   - The conditions MatchedEmpty and JobError have the status False once they do not hold
//     any more. The status is written when it changes, mere progress once a second at most.
//   - Every change of the spec, the deletion and the end of the TTL are found, also when no pod
//     changes.
//   - A job whose selector cannot be read can be deleted. A job is deleted after its TTL only
//     if it is still the same one.
//   - API servers before 1.22, which took JSON patches, are not served.
package ephemeraljob

// SPDX-License-Identifier: Apache-2.0

// Package imagepulljob manages ImagePullJobs. It assigns the task to pull an image to nodes, as
// many at a time as the job allows, and reports how far they are. The nodes find their tasks in
// NodeImages, which package nodeimage manages.
//
// Every reconcile of a job has three steps. Observe reads the caches into a [Snapshot]. [NewPlan],
// a pure function, decides. A [Plan] lists the nodes that get the task now, and for each node that
// waits the rule and the number that hold it. Apply does what the plan says. So every decision can
// be called in a unit test, shown before it happens, and explained afterwards.
//
// A reconcile waits until the caches have seen what earlier ones of the same job
// wrote. It never waits for the writes of other jobs.
//
// # Pull secrets
//
// The secrets that a job names are copied to the namespace kruise-daemon-config for as long as the
// job goes on. Nodes read them there and nowhere else. So a node that falls into wrong hands gives
// away those of the jobs at that time, and no other secret of the cluster. The controller itself
// must be allowed to read a secret by its name in every namespace that has jobs. It looks at the
// secrets of jobs now and then, and does not watch: to watch takes the right to list all.
//
// An agent of OpenKruise 1.4 reads the copies, too. If its manager may lead again at
// any time, or agents are older than the copies, see
// [Options.ReferToSourceSecrets].
//
// What manager and agent do stands rule by rule in
// https://github.com/podwright/podwright/blob/main/distribution/image/RULES.md
//
// # Differences
//
// Jobs and tasks are those of OpenKruise 1.4. Behaviour of OpenKruise that harms users is different
// here:
//
//   - A parallelism that is no number, and a deadline below 1 second, with which no node ever pulls, are
//     refused.
//   - A percentage as parallelism is one: of the nodes of the job, rounded up. It
//     does not pause the job, unless it is 0%.
//   - A node that has the task and has not reported anything about it counts as active, even if it
//     has reported on other tags. So no more nodes pull than parallelism allows, and the counters
//     add up.
//   - Jobs that share nodes do not hold each other up.
//   - How long a finished task stays on a node is spread over the nodes by their names, not drawn
//     by lot. The same snapshot gives the same plan.
//   - Progress is written at most every five seconds; the start and the end of a
//     job are written at once.
//   - A node that has tasks for 256 images, which is all it can have, waits until one of them is
//     gone. The job goes on with others.
//   - What is wrong with a spec that no webhook has seen stands in the message of
//     the status.
//   - Pull secrets are copied to a namespace in which nodes may read them; those that cannot be
//     stand in the message of the status.
//   - failedNodes are sorted at the deadline, too.
//   - Behind `job has completed` stands that no node is selected, if none is. What has held up a job for a
//     minute stands at the end of the message, and an event says it once. (IMG-1.5, IMG-1.9)
//   - A user who changes the spec of a job that has ended gets a warning. (IMG-1.8)
package imagepulljob

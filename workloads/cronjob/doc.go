// SPDX-License-Identifier: Apache-2.0

// Package cronjob manages AdvancedCronJobs (apps.kruise.io): it creates a Job, a
// BroadcastJob or an ImageListPullJob at the times of a schedule.
//
// Every reconcile of a cron job has three steps. Observe reads the caches into a
// [Snapshot]. [NewPlan], a pure function, decides. A [Plan] holds the job to create,
// or why none is created, the jobs to delete, the status, and when to look again.
// Apply does what the plan says. So every decision can be called in a unit test,
// shown before it happens, and explained afterwards.
//
// A scheduled time is run once at most. status.lastScheduleTime claims it before its
// job is created, and never goes back: what becomes of the job afterwards, and of the
// controller, does not matter. If the API server refuses the job, it is tried
// again after a back-off, also by another process. It is tried until a later time has come or the starting
// deadline is over. What it finds invalid waits for the next time.
//
// What the controller does stands rule by rule in
// https://github.com/podwright/podwright/blob/main/workloads/cronjob/RULES.md
//
// # Differences
//
// AdvancedCronJobs, their jobs and their status are those of OpenKruise 1.4, and
// imageListPullJobTemplate is that of 1.9. If their behaviour harms users, this
// package does otherwise:
//
//   - Deadlines of 0 seconds, with which no job ever runs a pod, are refused.
//   - lastScheduleTime is remembered. OpenKruise computes it from the jobs that are
//     left, and runs a time again whose jobs are gone. They go by the history limits, by their
//     time to live, or by hand.
//   - After more than 100 missed times a job is created for the latest one, with an
//     event. OpenKruise stops until the object is edited.
//   - Events tell of a time that has passed its starting deadline, and of a time that an active job keeps from being
//     run. They tell of times that clocks skip or show twice, and of a schedule or time zone that cannot be read.
//     They also tell of jobs that are created, deleted, or refused.
//   - Times of a changed schedule are due from the change on, which an annotation of the cron
//     job holds. OpenKruise runs times before the change at once.
//   - Jobs belong to a cron job by its UID, not by its name.
//   - Ticks of "@every 1h" count from the last one, whatever the starting deadline is.
//   - A job being deleted counts as active until it has finished or is gone, and
//     is not deleted again.
//   - A reference in status.active holds the resourceVersion at which the job was first
//     seen: that a job makes progress costs no write.
//   - What happens to a job reaches its cron job at once, whatever its kind and the
//     version in which its owner stands. OpenKruise 1.9 misses what happens to Jobs and
//     the deletion of any job, and the BroadcastJobs that older releases have made.
//   - imageListPullJobTemplate is in v1alpha1 too, so that no write takes it away. Images
//     are judged as those of the jobs, also parallelism and sandboxConfig.
//   - Labels and annotations of a template of BroadcastJobs reach the jobs. The schema
//     of OpenKruise drops them.
//   - status.observedGeneration says which spec the status is about.
package cronjob

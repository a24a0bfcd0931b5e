// SPDX-License-Identifier: Apache-2.0

// Package image has images pulled to nodes before a pod needs them there. It
// holds no code of its own:
//
//   - imagepulljob manages ImagePullJobs. A user makes one, or a CloneSet or a
//     StatefulSet that is about to update pods in place.
//   - imagelistpulljob manages ImageListPullJobs, each of which has several images pulled
//     by ImagePullJobs.
//   - nodeimage manages NodeImages, one per node, which hold the tasks of the node
//     and what its agent reports of them.
//
// A job assigns its task to NodeImages. The agent of the node pulls, and writes the status. The job
// counts what the nodes report. A task that no job needs any more is taken away. Both controllers
// run in the same program, with the same caches or with caches of their own.
//
// What manager and agent do stands rule by rule in
// https://github.com/podwright/podwright/blob/main/distribution/image/RULES.md
package image

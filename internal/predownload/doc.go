// SPDX-License-Identifier: Apache-2.0

// Package predownload decides whether the images of a new revision are pulled
// to the nodes before the pods there are updated. It creates the jobs for that.
//
// It decides once per revision; the outcome is a label on the
// ControllerRevision. decide is pure, and an Applier applies what it decides.
//
// It implements the rules IP-29 to IP-32 of
// https://github.com/podwright/podwright/blob/main/inplace/RULES.md
//
// # Differences
//
// If the behaviour of OpenKruise 1.4 harms users, this package does otherwise:
//
//   - A revision name that is too long for a label value is left out of the
//     job's pod selector, which it would make invalid. No pod can carry it.
//   - A job name that would be too long for an object is shortened in the
//     workload's part of it.
//   - A negative parallelism and a timeout of less than a second, which would
//     pull nothing, count as not given.
package predownload

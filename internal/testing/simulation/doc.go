// SPDX-License-Identifier: Apache-2.0

// Package simulation plays random histories of a workload and its controller,
// each of which a seed determines. Each has an API server in memory, and caches that are as stale as the seed says. A
// kubelet, a scheduler and a garbage collector act at random moments. Nodes come and go if the kind is about nodes,
// users change their minds, and others manage the same pods. Requests fail or lose their answer, and the process
// crashes between any two writes.
//
// The reconciler runs unchanged. Every request it sends waits until the seed
// decides what becomes of it, so that writes sent side by side interleave as the
// seed says. Nothing depends on the scheduler of Go. The same seed gives the
// same history, and the first n steps of it are the same however many follow.
// Time is virtual (testing/synctest); a history of hours takes milliseconds.
//
// [Subject] is what a test says of its kind, and of others whose controllers write to the
// same pods (package together). run plays one seed, and [Check]
// many, and prints a short history that fails. [Reach] shows the state that a history has come to. What a controller may write
// is for package invariants to say, which knows the specification and no planner.
// [FindBugs] makes sure that they see something: it plants bugs in the controller,
// and every one must be found.
//
// It is for tests only: no package but a test imports it.
package simulation

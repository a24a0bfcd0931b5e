// SPDX-License-Identifier: Apache-2.0

// Package invariants says what a controller may write, and what a workload must
// look like when settled. It judges one [Write] at a time, by the object before and after it. It also judges by what
// its author had to know. That is what the author's caches held when its reconcile began, and what it has written
// itself since. Staleness excuses what an author could not know, never what it wrote.
//
// It knows the specification and calls no planner, so that both cannot be wrong in the same way. Everything here is
// pure: any test that sees objects before and after a write can use it. If a test does not know what the author knew,
// only that is judged which holds whatever it was. That is who owns what is touched, hooks, claims, identity, and what
// an in-place update changes.
//
// Two controllers may be at work at once, for example when a lease is lost and the loser has not noticed. Each is
// judged by what it knew. So nothing is said of what only both together do, two pods too many for example.
package invariants

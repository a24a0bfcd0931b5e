// Package invariants says what a controller may write, and what a workload must
// look like at rest. It judges one [Write] at a time: from the object before and
// after it, and from what its author had to know, which are the objects that its
// caches held when its pass began, and what it has written itself since.
// Staleness excuses what an author could not know, never what it wrote.
//
// It knows the specification and calls no planner, so that both cannot be wrong
// in the same way. Everything here is pure: any test that sees objects before
// and after a write can use it. Where a test does not know what the author knew,
// or where two controllers are at work for a while, only that is judged which
// holds without: who owns what is touched, hooks, claims, identity, and what an
// in-place update changes.
package invariants

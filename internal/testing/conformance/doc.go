// SPDX-License-Identifier: Apache-2.0

// Package conformance tests once what every controller does the same way,
// whatever it manages: it settles and is quiet then, a restart writes nothing,
// stale caches and lost answers lead to the same end as none, one object that
// fails or panics holds up no other, objects of others are left alone, options
// that cannot work are refused by name, and Run leaves no goroutine behind.
//
// A package describes its controller as a [Kind] and calls [Test]. What only its
// kind decides it tests itself.
package conformance

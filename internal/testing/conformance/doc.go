// SPDX-License-Identifier: Apache-2.0

// Package conformance tests once what every controller does the same way,
// whatever it manages. It settles and is quiet then, and a restart writes nothing.
// Stale caches and lost answers lead to the same end as none. One object that
// fails or panics holds up no other, and objects of others are left alone. Options
// that cannot work are refused by name, and Run leaves no goroutine behind.
//
// A package describes its controller as a [Subject] and calls [Test]. What only its
// kind decides it tests itself.
package conformance

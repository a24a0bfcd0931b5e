// SPDX-License-Identifier: Apache-2.0

// Package heldup says in the status of an object what holds it up, by what, and since when. It does so in the condition HeldUp, in the
// words of "kubectl podwright explain". It is the same for all kinds.
//
// A plan lists its holds, see [rollout.Wait]. A [Tracker] remembers since when each of them is there, and [Tell] chooses the one
// that the condition names. A hold shorter than a minute is not told, so that a rollout that moves costs no request for it. A plan
// that has holds is made again when the minute is over. The condition is True or absent. Its lastTransitionTime is when the hold
// began, its reason stands in reasons, and its message begins with the object. Another text about the same object is no reason
// to write the status.
//
// What users asked for holds nothing up: a partition, OnDelete, a selector of the update.
package heldup

// SPDX-License-Identifier: Apache-2.0

// Package sidecarset says what is wrong with SidecarSets: with one by itself, with a
// change of it, where two would inject things of the same name into one pod, and which
// annotations a cluster's white list lets them patch.
//
// What they inject is computed in package injection. The rules are in RULES.md, by the
// ids that comments cite.
package sidecarset

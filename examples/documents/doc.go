// SPDX-License-Identifier: Apache-2.0

// Package documents holds what the pages of this repository say to what is there: links and anchors lead somewhere, commands,
// cited tests and rules exist, lists of kinds, folders, flags and gates are complete, figures were measured, and sentences are short.
//
// It holds tests only.
package documents

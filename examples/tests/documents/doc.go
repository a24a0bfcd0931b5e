// SPDX-License-Identifier: Apache-2.0

// Package documents holds what the pages of this repository say to what is there. Links and anchors lead somewhere.
// Commands, cited tests and rules exist. Lists of kinds, folders, flags and gates are complete. Figures were measured,
// and sentences are short.
//
// It holds tests only.
package documents

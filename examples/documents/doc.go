// SPDX-License-Identifier: Apache-2.0

// Package documents holds what the documents of this module say to what is there: links lead to files, cited tests and rules
// exist, and lists of folders, flags and gates are complete.
//
// It holds tests only.
package documents

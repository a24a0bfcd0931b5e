// SPDX-License-Identifier: Apache-2.0

// Package layers holds the repository to its own structure: which package may
// import which, what the pure packages may do, and how files are cut.
//
// It holds tests only. Their rules are in imports_test.go, purity_test.go and
// files_test.go; repository_test.go asks them about this repository. A rule
// that gets in the way is changed there, with the reason.
package layers

// SPDX-License-Identifier: Apache-2.0

// Package rights proves that Rules of every kind are whole. It has no code, only a test. Each kind runs with every option that takes
// rights, under an account of its own that has exactly the rules that its description states. The API server is real, and so are its
// answers: none may be that the account lacks a right. The script of each kind, in testdata, says what it has to ask for meanwhile.
//
// What no script reaches: evictions are answered in package evictionrequests.
package rights

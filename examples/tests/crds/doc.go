// SPDX-License-Identifier: Apache-2.0

// Package crds checks the CustomResourceDefinitions of podwright with the API
// server's own code. That code has to accept them, their validation rules and
// the cost of those. The tests also say which objects the rules refuse, and
// with which words.
//
// It holds tests only.
package crds

// SPDX-License-Identifier: Apache-2.0

// Package policies checks the admission policies of podwright with the API server's own code, without
// an API server. API servers of the oldest version that has policies have to compile them. The tests
// say what they refuse, and with which words, and that large objects do not cost too much. Of the
// MutatingAdmissionPolicies it checks that they make of pods what the functions make that they are
// compiled from. What a real API server makes of them is for package e2e.
//
// It holds tests only.
package policies

// SPDX-License-Identifier: Apache-2.0

// Package crds checks the CustomResourceDefinitions of podwright with the API
// server's own code: that it accepts them, their validation rules and the cost
// of those, and which objects the rules refuse with which words.
//
// It holds tests only.
package crds

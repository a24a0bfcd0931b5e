// SPDX-License-Identifier: Apache-2.0

// Package evictionrequests has pods evicted declaratively on a real control plane that serves
// EvictionRequests: by the responder of podwright, with the rights that it states, and CloneSets
// that make room. The part of the controller that makes Evictions of EvictionRequests, which Kubernetes 1.37 has
// not, is played by the test.
//
// It holds tests only.
package evictionrequests

// SPDX-License-Identifier: Apache-2.0

// Package evictionrequests has pods evicted declaratively on a real control plane that serves EvictionRequests.
// The responder of podwright has them evicted, with the rights that it states, and CloneSets make room. The part
// of the controller that makes Evictions of EvictionRequests, which Kubernetes 1.37 has not, is played by the
// test.
//
// It holds tests only.
package evictionrequests

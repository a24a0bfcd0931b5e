// SPDX-License-Identifier: Apache-2.0

// Package e2e holds no code, only tests: of the manager, as a process of its own, against a real control plane.
//
// They are about what the tests of the library cannot know. One is what the API server makes of webhook verdicts,
// patches, status writes, conflicts and owners. Another is what the controller manager makes of claims and of deleted
// workloads. The last is what another manager makes of what the one before it has left. What remains true whatever
// breaks is for package faults.
//
// The tests run at once on one control plane, but for those of TestFaults, which break theirs and have two of their own.
// TestGuarantees compares StatefulSets with those of Kubernetes.
//
// Budgets are judged from every state that the pods have been in, as a watch tells them, not from a look now and then.
package e2e

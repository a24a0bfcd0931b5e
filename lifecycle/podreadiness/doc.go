// SPDX-License-Identifier: Apache-2.0

// Package podreadiness opens the readiness gate KruisePodReady of pods. A pod
// with the gate is not ready before the condition of that name is there and True.
// After that the condition belongs to those who take the pod out of service, see
// package readiness; this package never touches one that exists.
//
// [NewPlan], a pure function, decides about one pod; the [Controller] does so
// for every pod of the cluster, by one write a pod.
//
// [Mutate] gives new pods the gate. It is for the webhook that all pods go through,
// see package podwebhook. CloneSets and StatefulSets do not need it: they make
// their pods with the gate.
//
// They set the condition too, with the first status that they write to a pod. So
// their pods are left to them for [OwnersTime]. There is one write and not two,
// and a pod whose workload has no controller here is not forgotten.
//
// What is done stands rule by rule in
// https://github.com/podwright/podwright/blob/main/lifecycle/podreadiness/RULES.md
package podreadiness

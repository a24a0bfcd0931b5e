// Package podreadiness opens the readiness gate KruisePodReady of pods: a pod
// with the gate is not ready before the condition of that name is there and True.
// After that the condition belongs to those who take the pod out of service, see
// package readiness; this package never touches one that exists.
//
// [NewPlan], a pure function, decides about one pod; the [Controller] does so
// for every pod of the cluster, by one write a pod.
//
// CloneSets and StatefulSets set the condition themselves, with the first status
// that they write to a pod. Their pods are left to them for [OwnersTime]: so
// there is one write and not two, and a pod whose workload has no controller
// here is not forgotten.
package podreadiness

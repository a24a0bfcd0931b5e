// SPDX-License-Identifier: Apache-2.0

// Package invariants watches workloads on a real control plane. It judges what the API server has stored,
// change by change, whatever happens to the programs that manage them.
//
// Of DaemonSets, BroadcastJobs and AdvancedCronJobs it asks little, and nothing that a controller has counted:
//   - A DaemonSet has one pod a node, and no more nodes are out of service than maxUnavailable.
//   - Every node of a BroadcastJob has run it once, and is counted as its pod has ended.
//   - No scheduled time has two jobs.
//
// Of SidecarSets it asks that every pod which they select has their containers. Their updates change nothing else, take no
// more pods out of service than maxUnavailable, and leave one container of a hot one at work. In the end all pods have what
// they ask for, and are counted. A container of any pod is restarted for each new image once at most.
//
// Of PodUnavailableBudgets it asks that no eviction and no deletion leaves fewer pods in service than they want, of a
// CloneSet whose spec stays.
//
// Of UnitedDeployments it asks that a workload of a subset is told what one of the specs says that its controller may have
// seen. There is one for each subset, all together with what there should be.
//
// Of WorkloadSpreads it asks that a pod is created where there is room by what is not in flight, and runs there. Pods of a
// new revision are where they should be.
//
// Of PersistentPodStates it asks that a pod which has settled comes back to its node while it is wanted.
//
// What follows is about CloneSets and StatefulSets.
//
// What a controller may write is said in one place, the package of the same name in the simulation of the library. That judges
// one write from what its author knew. A [Judge] finds out from watches what that package wants to be told:
//   - whose write a change was. It takes away what the scheduler, kubelets and providers of volumes write; what is left, a
//     controller did. No other writer may take pods out of service, move them or delete them while a Judge looks on. Users
//     may if a budget protects the pods, by evictions and with [UserGracePeriod]. Users also change the specs, and no more of
//     a template than images. So a pod that may be updated in place must be.
//   - which spec the author knew. A controller acts on what it has seen. So a spec counts from when it is stored until
//     the objects are [Judge.Settled] with a later one. What is done is right if it is right by one of the specs that
//     count.
//   - which pods the author knew. It is taken to have known them as they were just before its write: what others do
//     meanwhile makes only more of them available. But of the pod it writes it need not have heard the last from its
//     kubelet, nor that injected containers of others are not ready. A pod that does not serve may be taken out at any
//     time. A status may count the pods as they were at any moment since all was settled.
//   - what of this cannot be told, as a watch broke. Of changes that have been lumped together, that is judged which takes
//     neither their order nor a moment between them to know. The pods of a workload whose spec a controller has changed meanwhile
//     are judged by nothing but where they are.
//
// Seconds are not told, so minReadySeconds must be 0.
//
// A few rules are the Judge's own. They are not about the write of a controller of workloads, or they take more than its
// own objects to know:
//   - Strangers stay as they are, and no pod is given away.
//   - A pod is created with images that a user wants, and a name of its own. Its claims are there, no other pod has them, and
//     they stay.
//   - The garbage collector takes claims of StatefulSets when their pods have gone and the policy says so.
//
// That users write specs is not judged.
//
// The package does no I/O.
package invariants

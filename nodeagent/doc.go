// SPDX-License-Identifier: Apache-2.0

// Package nodeagent is the node's half of podwright: what a controller in the
// cluster cannot know or do, because it takes the container runtime. A node
// agent is one process per node that runs features of it. Each is a package of
// its own below this one, with the words New, Options, Run, Reconciler, Snapshot
// and Plan.
//
//   - [github.com/podwright/podwright/nodeagent/containermeta] reports which
//     containers really run, and restarts those whose environment comes from
//     labels and annotations that have changed.
//   - [github.com/podwright/podwright/nodeagent/recreate] stops the containers that
//     ContainerRecreateRequests name, so that the kubelet starts them again.
//   - [github.com/podwright/podwright/nodeagent/image] pulls images before pods
//     need them.
//   - [github.com/podwright/podwright/nodeagent/probe] runs the probes of
//     PodProbeMarkers.
//
// This package holds what the features share. [Dial] connects to the runtime
// over CRI v1, and a [Runtime] survives the restart of what it is connected to.
// [NewPodInformer] caches the pods of the node, once for all features; the package
// kubeletpods in examples/nodeagent shows one that reads them from the kubelet.
// [Find] finds out which of several runtimes is that of the kubelet.
// [Newest], [RestartCount], [KubeletHash] and [ContainerID] read what the kubelet
// writes down about a container.
//
// RBAC knows no nodes; [github.com/podwright/podwright/nodeagent/policies] holds an
// agent to its own by admission policies.
//
// A feature reads the pods of its own node only, needs no leader election, and
// keeps nothing on disk. An agent can be killed and started again at any time.
//
// # Building
//
// Build an agent with -tags=grpcnotrace. Without it, gRPC brings along the tracing of
// golang.org/x/net/trace, whose templates make the linker keep every method of every type.
// Of examples/nodeagent, on linux/amd64, half a minute after its start, the median of
// five. The node has 110 pods of three containers each, or none (go run ./nodeagent/memory
// in examples):
//
//	                               binary   110 pods   no pods
//	plain, with GOGC=100            93 MB      55 MB     49 MB
//	-tags=grpcnotrace, unstripped   52 MB      41 MB     37 MB
//	and -ldflags="-s -w"            37 MB      41 MB     37 MB
//
// Of the memory 8 to 14 MB are the process's own, and the rest pages of the binary,
// which the kernel can drop. The peak is not above that. Half of the pages are the API
// types of Kubernetes, which client-go registers whether they are used or not. The example
// sets GOGC to 50, which is 1 MB of it.
//
// # Differences
//
// From the agent of OpenKruise 1.4, with which it can share a cluster, one per
// node:
//   - The runtime is asked in CRI v1; v1alpha2, which containerd 2 and CRI-O 1.26
//     no longer have, is not spoken. Docker and Pouch are reached through their
//     CRI sockets only.
//   - An httpGet preStop hook without a host goes to the address of the pod, which
//     the runtime is asked for. Scheme and headers of the hook are kept, and the
//     hook sleep is known.
package nodeagent

// SPDX-License-Identifier: Apache-2.0

// Package fakecluster is a small Kubernetes cluster in memory, to test a program with that embeds controllers of this
// library. It has an API server that the real clients and informers talk to, and kubelets that act when the test asks
// them to. No socket is opened, so it also runs in a testing/synctest bubble, in which the test moves the time.
//
// # A test of an operator
//
// [New] makes a cluster. [Cluster.Admit] adds the webhooks, [Cluster.Run] runs the controllers beside the kubelets, and
// [Eventually] waits until an object is as wanted. The Example is such a test as a whole.
//
// # What it has
//
// It does what controllers depend on. It has one resourceVersion for all objects, conflicts, graceful deletion, finalizers,
// generations, the subresources status, scale, resize, ephemeralcontainers and eviction, and selectors. It has watches that
// resume, with bookmarks, and discovery. It has JSON, merge and strategic-merge patches, and server-side apply by the code of the
// real API server. It speaks JSON and protobuf, and reduces objects to their metadata on demand. It knows every kind of this
// library, in the version in which its objects are stored. It knows the kinds of Kubernetes that operators use most: workloads,
// claims, volumes, nodes, namespaces, Services, ConfigMaps, Secrets, Leases and events. A kind of your own is given to [New].
//
// # What it does not have
//
// There are no defaults but those of pods, no rules of CRDs, no policies by CEL and no RBAC. It has no paging, no dry runs
// but those of writes, and no deletion of collections. Kubernetes' own controllers do not run: of a Deployment no pod comes.
// There are no containers. Validation is that of metadata, and of what may change in a pod. A test of those needs a real
// control plane.
//
// client-go's fake clientset is not enough for these controllers. It has no REST client and no resourceVersions, without
// which there is no consistency. A controller never learns that its caches hold its own last writes.
package fakecluster

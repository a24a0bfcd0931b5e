// SPDX-License-Identifier: Apache-2.0

// Package fakecluster is a small Kubernetes API server in memory, for tests of
// controllers. It is reached with the real clients, through a
// [rest.Config] whose transport calls the server directly. No socket is opened,
// no goroutine is started, and nothing waits for the wall clock. So it runs in
// a testing/synctest bubble, where time is virtual, and a test can wait until
// everything has settled.
//
// It follows the rules of the real server that controllers depend on. It has one resourceVersion for all objects,
// conflicts by resourceVersion and UID, and metadata that clients cannot change. It has status as a subresource,
// generations, finalizers, and graceful deletion of pods. Watches resume at any resourceVersion of the past. The code
// of the real server validates the metadata of objects. Of specs it checks only what clients may change about a pod
// that exists and about the data of a revision.
//
// What a real cluster does only now and then, a test does here at will. It
// counts and refuses requests ([Server.FailBefore]), and loses the answer to a write
// that was made ([Server.FailAfter]). It makes caches stale ([Server.Hold]), and
// breaks watches in a way that makes informers list again ([Server.Drop],
// [Server.Compact]). [Kubelet] plays the node's part, one step per call. [Guard]
// finds out who changes an object of a cache.
//
// A test gives it admission ([Server.AdmitBy], [Server.Mutate]) and the account of who owns which field
// ([Server.ManageFields]). Without that account there is no server-side apply.
//
// It leaves out PodDisruptionBudgets, deletion of collections and paging. What the controller manager does about deletions happens only if
// the test asks for a round of it ([Server.CollectGarbage]).
package fakecluster

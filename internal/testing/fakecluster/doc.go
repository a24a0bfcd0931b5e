// SPDX-License-Identifier: Apache-2.0

// Package fakecluster is a small Kubernetes API server in memory, for tests of
// controllers. It is reached with the real clients, through a
// [rest.Config] whose transport calls the server directly. No socket is opened,
// no goroutine is started, and nothing waits for the wall clock. So it runs in
// a testing/synctest bubble, where time is virtual, and a test can wait until
// everything has settled.
//
// It follows the rules of the real server that controllers depend on: one
// resourceVersion for all objects, conflicts by resourceVersion and UID,
// metadata that clients cannot change, status as a subresource, generations,
// finalizers, graceful deletion of pods, and watches that resume at any
// resourceVersion of the past. The metadata of objects is validated by the
// same code. Of specs it checks only what clients may change about a pod that exists and
// about the data of a revision.
//
// What a real cluster does only now and then, a test does here at will. It
// counts and refuses requests ([Server.FailBefore]), and loses the answer to a write
// that was made ([Server.FailAfter]). It makes caches stale ([Server.Hold]), and
// breaks watches in a way that makes informers list again ([Server.Drop],
// [Server.Compact]). [Kubelet] plays the node's part, one step per call. [Guard]
// finds out who changes an object of a cache.
//
// Admission is what a test gives it ([Server.AdmitBy], [Server.Mutate]), and so is the account of who owns which field,
// without which there is no server-side apply ([Server.ManageFields]).
//
// It leaves out PodDisruptionBudgets, deletion of collections, paging, and what the controller manager does about deletions, unless the test
// asks for a round of it ([Server.CollectGarbage]).
package fakecluster

// Package scene plays stories with the controller of one kind of workload, on an
// API server in memory and in virtual time. The test is the user, and has the
// kubelet take its steps. Everything has come to rest when a method of
// [Cluster] returns.
//
// The tests of a workload embed a Cluster in a type of their own, which adds
// what only they know: the typed client, the options, what to create.
package scene

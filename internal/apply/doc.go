// SPDX-License-Identifier: Apache-2.0

// Package apply carries plans of workload controllers out. A Writer belongs to
// a controller, a Pass to one reconcile of one workload; the methods of a Pass do
// what every workload does to its revisions, claims, pods and status, and what
// remains is the order of the steps, which the workload knows.
//
// Every write names the UID of its object, so that it cannot hit another one of
// the same name, and is remembered, so that the next reconcile waits until the
// caches show it. One failure does not stop the others: errors are joined.
package apply

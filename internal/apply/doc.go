// SPDX-License-Identifier: Apache-2.0

// Package apply applies plans of workload controllers. A Writer belongs to a
// controller, a Sync to one reconcile of one workload. The methods of a Sync do
// what every workload does to its revisions, claims, pods and status. An Applier
// has the order of that for all kinds: revisions, the steps of the kind, status,
// history.
//
// Every write names the UID of its object, so that it cannot hit another one of
// the same name. It is remembered, so that the next reconcile waits until the
// caches show it. One failure does not stop the others: errors are joined.
package apply

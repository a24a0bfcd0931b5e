// SPDX-License-Identifier: Apache-2.0

// Package revision reads and writes the ControllerRevisions in which a
// workload records the pod templates of its past. It covers their data, their names, their
// order, and which of them is the template of today.
//
// Everything here is a pure function of its arguments. What must be written to
// the API server is returned as a value.
//
// # Data
//
// The data of a revision is one JSON document,
//
//	{"spec":{"template":{"$patch":"replace","metadata":{...},"spec":{...}}}}
//
// compact, with sorted keys. Its bytes are part of the contract, because the
// hash over them is the name of the revision and the label of every pod. They
// are those that a program built on the Kubernetes 1.22 types writes, for every
// template which such a program knows in full. A zero creationTimestamp is
// null, for example, although newer encoders leave it out. Pod fields that came
// later are kept.
//
// The format stands in the rules CS-CR1 to CS-CR7 of
// https://github.com/podwright/podwright/blob/main/workloads/cloneset/RULES.md
//
// # Differences
//
// OpenKruise 1.4 compares revisions byte by byte and drops pod fields that are
// newer than Kubernetes 1.22. Here:
//   - two revisions are equal when they mean the same template, so that
//     another encoder's data for the same template does not update any pod;
//   - newer fields are part of the revision. A workload whose template already
//     holds such fields gets one new revision when podwright comes to manage it, for its
//     pods have never had them;
//   - integers are exact. OpenKruise rounds those beyond 2^53;
//   - metadata.clusterName of a template, which Kubernetes has removed, is dropped;
//   - a revision that cannot be read is an error only if its template is needed.
//     If it has a controller and the name of the wanted one, it is that. If
//     it has none, it is left out.
package revision

// SPDX-License-Identifier: Apache-2.0

// Package conversion lets kinds that are served in two versions be read and
// written in both without loss. Today that is StatefulSet: stored as v1beta1,
// served as v1alpha1 too, which lacks some fields.
//
// The API server converts nothing by itself but the name of the version, and
// then drops what the other version does not have: a client that reads a
// v1alpha1 StatefulSet and writes it back takes its reserveOrdinals away, and
// pods move. Who still has such clients serves Handler under Path and names it
// in the definition with SetWebhook. Then the fields that v1alpha1 lacks travel
// in the annotation KeptFieldsAnnotation.
//
// Whoever uses v1beta1 alone needs none of this: an object that is asked for in
// the version in which it is stored is never converted.
//
// It implements the rule STS-V3 of
// https://github.com/podwright/podwright/blob/main/workloads/statefulset/RULES.md
//
// # Differences
//
// In OpenKruise 1.4 a v1alpha1 client that reads and writes back a StatefulSet
// takes away its reserveOrdinals, lifecycle, scaleStrategy,
// persistentVolumeClaimRetentionPolicy and status.updatedReadyReplicas. Here
// they are kept. They still go when a v1alpha1 client replaces the object by a
// manifest without the annotation, as any field does that a manifest leaves
// out; patches and server-side apply leave them alone.
package conversion

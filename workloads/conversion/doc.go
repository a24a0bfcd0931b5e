// SPDX-License-Identifier: Apache-2.0

// Package conversion lets kinds that are served in two versions be read and written in both without loss. StatefulSets are stored
// as v1beta1 and served as v1alpha1 too. DaemonSets, BroadcastJobs and AdvancedCronJobs come stored and served as v1alpha1. A
// later release of OpenKruise serves and stores them as v1beta1, and the caller may ask for that too. ServeV1beta1 adds the
// version, and StoreV1beta1 is for clusters that store it.
//
// The API server converts nothing by itself but the name of the version, and
// then drops what the other version does not have. A client that reads a
// v1alpha1 StatefulSet and writes it back takes its reserveOrdinals away, and
// pods move. An operator with such clients serves Handler under Path and names it
// in the definition with SetWebhook. ServeV1beta1 does that and adds v1beta1
// if it is missing. Then the fields that v1alpha1 lacks travel in
// annotations, of KeptFieldsPrefix.
//
// A client that uses only the version in which a kind is stored needs none of this:
// such an object is never converted. So controllers and typed clients do not
// depend on the webhook, unless the cluster stores v1beta1 of the kinds that come stored as v1alpha1. Then
// the controllers of DaemonSets and AdvancedCronJobs wait until Handler is served. BroadcastJobs
// have the same fields in both versions, and API servers convert them by themselves.
//
// There are no Go types for v1beta1 of kinds that come stored as v1alpha1. One
// table of the fields that differ converts objects and makes the schema of the
// version, so that the two cannot differ.
//
// It implements the rules STS-V3, DS-V3, BJ-V3 and ACJ-16, which stand in the
// RULES.md of the kinds, such as
// https://github.com/podwright/podwright/blob/main/workloads/statefulset/RULES.md
//
// # Differences
//
// In OpenKruise 1.4 a v1alpha1 client that reads and writes back a StatefulSet
// takes away its reserveOrdinals, lifecycle, scaleStrategy,
// persistentVolumeClaimRetentionPolicy, status.updatedReadyReplicas and
// status.updatedAvailableReplicas. Here they are kept. They still go when a
// v1alpha1 client replaces the object by a manifest without the annotations, as
// any field does that a manifest leaves out. Patches and server-side apply
// leave them alone.
//
// Each part of such a field has an annotation of its own, since server-side apply merges an
// annotation as a whole. So what a v1beta1 manifest leaves out goes, unless another field manager
// wants it. That holds though clients write in v1alpha1, as most controllers do.
//
// OpenKruise 1.9 stores v1beta1 of the other kinds. Here they are stored as
// v1alpha1, which others read, unless a cluster stores v1beta1 already.
package conversion

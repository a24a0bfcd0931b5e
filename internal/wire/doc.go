// SPDX-License-Identifier: Apache-2.0

// Package wire holds no code. Its test compares the CRDs that the areas embed with the
// wire contract: what manifests, clients and stored objects rely on. That is their names
// and scope, and their versions with subresources and printer columns. Of every field it
// is the type, format, default, enum, bounds and whether it is required.
//
// The contract is that of OpenKruise 1.4, or of 1.9 for kinds that podwright has as 1.9 has them: each file says which. It stands in
// testdata, one file a kind, and lists the fields of a version by path. ".spec.volumes[].name" is the name of each item of a list,
// and ".spec.labels{}" is each value of a map. A word that begins with "x-kubernetes-" is an attribute like any other, and these are
// notes:
//
//   - core: a type of Kubernetes, which a CRD may spell out or leave open,
//   - inlineCore: a type of Kubernetes that is inlined there,
//   - anyOf: the types that x-kubernetes-int-or-string stands for,
//   - deployedConversion: how the versions are converted once webhooks run.
//
// In testdata/stored is what clients of OpenKruise 1.9 rely on in v1beta1 of kinds that come as v1alpha1.
//
// A CRD may have more than its contract says: versions, fields, descriptions. It
// may not lack anything, and what both have is the same in both.
package wire

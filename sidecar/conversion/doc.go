// SPDX-License-Identifier: Apache-2.0

// Package conversion serves SidecarSets, which come stored as v1alpha1, as
// v1beta1 too, as a later release of OpenKruise has them, without loss. This is off
// unless a program asks for it: [ServeV1beta1] adds the version to the definition,
// and [Handler] converts.
//
// What one version has and the other lacks is put into the field of the other that comes nearest, or
// travels in an annotation. So spec.customVersion of v1beta1 is a label in v1alpha1, and
// spec.namespace of v1alpha1 a namespaceSelector in v1beta1. What is read and written back in
// either version is what it was. A user who changes the label or the selector means the new one. Managers
// that use server-side apply, in whichever versions, are told of a conflict before one of them takes something from another.
//
// It implements the rule SCS-V7 of
// https://github.com/podwright/podwright/blob/main/sidecar/sidecarset/RULES.md
package conversion

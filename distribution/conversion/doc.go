// SPDX-License-Identifier: Apache-2.0

// Package conversion serves ImagePullJobs, ImageListPullJobs and NodeImages, which come stored as
// v1alpha1, as v1beta1 too, as a later release of OpenKruise has them. This is off
// unless a program asks for it: [ServeV1beta1] adds the version to the
// definitions, and API servers convert by themselves. [StoreV1beta1] is for clusters that store it.
//
// It implements the rule IMG-1.7 of
// https://github.com/podwright/podwright/blob/main/distribution/image/RULES.md
package conversion

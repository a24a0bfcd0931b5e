// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 has what clients apply of the API types in distribution/v1alpha1 (server-side apply).
package v1alpha1

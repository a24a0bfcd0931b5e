// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 has what clients apply of the API types in inplace/v1alpha1 (server-side apply).
package v1alpha1

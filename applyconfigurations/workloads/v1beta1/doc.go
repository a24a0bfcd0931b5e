// SPDX-License-Identifier: Apache-2.0

// Package v1beta1 has what clients apply of the API types in workloads/v1beta1 (server-side apply).
package v1beta1

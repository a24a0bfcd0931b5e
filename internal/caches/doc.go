// SPDX-License-Identifier: Apache-2.0

// Package caches holds what controllers share in reading informers. That is which ones
// they make, and the transform that keeps those small. It is the indexes from a workload
// to what belongs to it, and how far a cache is.
package caches

// SPDX-License-Identifier: Apache-2.0

// Package caches holds what controllers share that read informers. It makes informers, and
// transforms their objects so that caches stay small. It has the indexes from a workload to what
// belongs to it, and tells up to which resourceVersion a cache is complete.
package caches

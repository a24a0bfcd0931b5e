// SPDX-License-Identifier: Apache-2.0

// Package validation says what is wrong with the parts of a spec that several
// workloads have: selectors, templates, priorities. And it says which objects are
// protected from deletion. Its functions are pure and return the errors field by
// field, below the path that they are given.
//
// What only the API server knows about a pod template it is asked, by DryRun.
package validation

// SPDX-License-Identifier: Apache-2.0

package testbed

import "testing"

// Long leaves a test to "make test-long": with -short, as "make test" gives it, the test is skipped.
func Long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: make test-long runs it")
	}
}

// Sample returns all, and with -short the first of each so many.
func Sample[T any](all []T, every int) (some []T) {
	if !testing.Short() {
		return all
	}
	for i := 0; i < len(all); i += every {
		some = append(some, all[i])
	}
	return some
}

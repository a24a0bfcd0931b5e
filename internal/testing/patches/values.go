// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"strconv"
	"testing"
	"time"
)

// Duration reads a duration of a script.
func Duration(t testing.TB, text string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Number reads a number of a script.
func Number(t testing.TB, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"strings"
	"testing"
	"time"
)

// All evictions are answered as they should, with a webhook and without, and all are measured. (PUB-15, PUB-28)
func TestEvictionsAreMeasured(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute) // the first start builds the control plane
	defer cancel()
	var table strings.Builder
	if err := run(ctx, options{pods: 20, parallel: 4, cache: true}, &table, t.Output()); err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s", &table)
	if lines := strings.Count(table.String(), "\n"); lines != 7 {
		t.Errorf("%d lines, want 7", lines)
	}
}

// SPDX-License-Identifier: Apache-2.0

package podplan

import (
	"fmt"
	"testing"

	"github.com/podwright/podwright/internal/testing/patches"
)

func TestSameFailure(t *testing.T) {
	patches.PlayRows(t, "testdata/failures.txt", nil, func(_ *testing.T, _ string, r *struct{ A, B string }) string {
		return fmt.Sprint(sameFailure(r.A, r.B))
	})
}

// SPDX-License-Identifier: Apache-2.0

package editing

import (
	"fmt"
	"strings"
	"testing"

	"github.com/podwright/podwright/internal/testing/patches"
)

// TestRows plays the tables in testdata/rows, see patches.PlayRows:
//
//	edited   whether what is at a path differs before and after
//	named    what is wrong with the word that a test in testdata/named edits topology.limit
func TestRows(t *testing.T) {
	type row struct {
		Path, Test    string
		Before, After any
	}
	patches.PlayRows(t, "testdata/rows", nil, func(_ *testing.T, command string, r *row) string {
		if command == "edited" {
			return fmt.Sprint(edited(r.Before, r.After, strings.Split(r.Path, ".")))
		}
		if err := named("topology.limit", r.Test, "testdata/named/a_test.go.txt"); err != nil {
			return err.Error()
		}
		return ""
	})
}

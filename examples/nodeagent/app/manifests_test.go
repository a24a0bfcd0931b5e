// SPDX-License-Identifier: Apache-2.0

package app

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The files are what "make generate" makes.
func TestGeneratedManifests(t *testing.T) {
	rbac, err := Manifest(NewConfig(onNode))
	if err != nil {
		t.Fatal(err)
	}
	policies, err := Policies()
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string][]byte{"nodeagent.yaml": rbac, "policies.yaml": policies} {
		got, err := os.ReadFile(filepath.Join("..", "rbac", file))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is out of date, run make generate (-file +wanted):\n%s", file, cmp.Diff(string(got), string(want)))
		}
	}
}

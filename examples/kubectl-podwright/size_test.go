// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The plugin is downloaded by every user. Most of it are the types of all APIs of Kubernetes, as in kubectl, which is of the same size.
func TestSize(t *testing.T) {
	const most = 60 << 20
	binary := filepath.Join(t.TempDir(), "kubectl-podwright")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", binary, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as make build has it
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	built, err := os.Stat(binary)
	if err != nil {
		t.Fatal(err)
	}
	if built.Size() > most {
		t.Errorf("it has %d bytes, want %d at most: go tool nm -size says what links what", built.Size(), most)
	}
}

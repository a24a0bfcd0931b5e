// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"testing"
)

// What gRPC traces with reaches methods by names that are made at run time. If it is linked in, the linker keeps every
// method of every type. Then the agent has 93 MB instead of 51, and takes a third more memory. Templates do the same
// if something executes them.
func TestNothingKeepsAllMethods(t *testing.T) {
	for tags, traces := range map[string]bool{"grpcnotrace": false, "": true} {
		binary := filepath.Join(t.TempDir(), "nodeagent")
		if out, err := exec.Command("go", "build", "-tags="+tags, "-o", binary, ".").CombinedOutput(); err != nil {
			t.Fatalf("%v:\n%s", err, out)
		}
		symbols, err := exec.Command("go", "tool", "nm", binary).Output()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(symbols, []byte(" google.golang.org/grpc.")) {
			t.Errorf("with -tags=%s the agent does not speak gRPC", tags)
		}
		for _, culprit := range []string{" text/template.(*state).evalField", " golang.org/x/net/trace.New"} {
			if got := bytes.Contains(symbols, []byte(culprit)); got != traces {
				t.Errorf("with -tags=%s the agent has%s: %v, want %v", tags, culprit, got, traces)
			}
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// programs are built as "make build" does.
var programs = []string{"manager", "nodeagent", "kubectl-podwright"}

// packages are what users import, and what each is.
var packages = []struct{ path, note string }{
	{"k8s.io/api/core/v1", "for comparison: the API types of pods"},
	{"inplace", "the arithmetic of a pod"},
	{"inplace/rollout", "which pods are updated next"},
	{"lifecycle", "hooks"},
	{"workloads/v1alpha1", "API types"},
	{"workloads/cloneset", "planner, controller and webhook"},
}

// writeBuilds builds programs and counts imports. It is run in the folder of the examples.
func writeBuilds(file string) error {
	folder, err := os.MkdirTemp("", "builds-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	for _, name := range programs {
		binary := filepath.Join(folder, name)
		compile := exec.Command("go", "build", "-tags=grpcnotrace", "-ldflags=-s -w", "-o", binary, "./"+name)
		compile.Stderr = os.Stderr
		compile.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64")
		if err := compile.Run(); err != nil {
			return fmt.Errorf("building %s: %w", name, err)
		}
		info, err := os.Stat(binary)
		if err != nil {
			return err
		}
		if err := encoder.Encode(build{Program: name, Bytes: info.Size(), Note: "`make build`"}); err != nil {
			return err
		}
	}
	for _, p := range packages {
		path := p.path
		if !strings.Contains(path, ".") {
			path = "github.com/podwright/podwright/" + path
		}
		list := exec.Command("go", "list", "-C", "..", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", path)
		list.Stderr = os.Stderr
		names, err := list.Output()
		if err != nil {
			return fmt.Errorf("listing what %s imports: %w", path, err)
		}
		if err := encoder.Encode(build{Package: p.path, Packages: len(strings.Fields(string(names))), Note: p.note}); err != nil {
			return err
		}
	}
	return os.WriteFile(file, out.Bytes(), 0o644)
}

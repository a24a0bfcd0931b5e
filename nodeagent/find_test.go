// SPDX-License-Identifier: Apache-2.0

package nodeagent_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/podwright/podwright/internal/testing/fakecri"
	"github.com/podwright/podwright/nodeagent"
)

// sockets serves runtimes, each given as "file name version", and returns the paths
// of the files. A file alone is a socket at which no server listens.
func sockets(t *testing.T, runtimes ...string) (all []string) {
	t.Helper()
	dir := t.TempDir()
	for _, runtime := range runtimes {
		fields := strings.Fields(runtime)
		path := filepath.Join(dir, fields[0])
		all = append(all, path)
		if len(fields) == 1 {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		fake := fakecri.New(nil)
		fake.RuntimeName, fake.RuntimeVersion = fields[1], fields[2]
		stop, err := fake.Serve(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(stop)
	}
	return all
}

// found is the file of the runtime that is found, or why none is.
func found(t *testing.T, paths []string, name, version string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r, err := nodeagent.Find(ctx, paths, name, version)
	if err != nil {
		return "error: " + err.Error()
	}
	defer r.Close()
	if err := r.Check(ctx); err != nil {
		t.Error(err)
	}
	return filepath.Base(r.Endpoint)
}

func TestFind(t *testing.T) {
	const ours, dockers, crio = "a.sock containerd 2.3.7", "b.sock containerd 1.7.0", "c.sock cri-o 1.30.0"
	for _, test := range []struct {
		what          string
		runtimes      []string
		name, version string
		want          string // the file, or a part of an error
	}{
		{"the only one", []string{ours}, "", "", "a.sock"},
		{"the only one, named", []string{ours}, "containerd", "2.3.7", "a.sock"},
		{"the only one, updated since the kubelet asked", []string{ours}, "containerd", "2.3.6", "a.sock"},
		{"the one of the name", []string{ours, crio}, "cri-o", "1.30.0", "c.sock"},
		{"the one of the version", []string{dockers, ours}, "containerd", "2.3.7", "a.sock"},
		{"two, and no name", []string{ours, crio}, "", "", "want one container runtime, found containerd 2.3.7 at unix://"},
		{"two of the name, none of the version", []string{ours, dockers}, "containerd", "2.0.0", "want one container runtime, found"},
		{"none of the name", []string{ours}, "cri-o", "1.30.0", "want the container runtime cri-o 1.30.0 of the node, found containerd 2.3.7"},
	} {
		t.Run(test.what, func(t *testing.T) {
			t.Parallel()
			got := found(t, append(sockets(t, test.runtimes...), "/nowhere/containerd.sock"), test.name, test.version)
			if got != test.want && (!strings.HasPrefix(got, "error: ") || !strings.Contains(got, test.want)) {
				t.Errorf("found %s, want %s", got, test.want)
			}
		})
	}
}

// A socket at which no server listens does not answer however long Find waits: so it waits shortly here.
func TestFindBesideDeadSockets(t *testing.T) {
	nodeagent.FindSoon(t)
	const ours = "a.sock containerd 2.3.7"
	if got := found(t, sockets(t, "dead.sock", ours), "", ""); got != "a.sock" {
		t.Errorf("nothing is known of the node: %s", got)
	}
	if got := found(t, sockets(t, ours, "dead.sock"), "containerd", "2.3.8"); got != "a.sock" {
		t.Errorf("the node has another version: %s", got)
	}
}

// One socket under two names is one runtime.
func TestFindOneSocketTwice(t *testing.T) {
	path := sockets(t, "a.sock containerd 2.3.7")[0]
	link := filepath.Join(t.TempDir(), "run")
	if err := os.Symlink(filepath.Dir(path), link); err != nil {
		t.Fatal(err)
	}
	if got := found(t, []string{path, filepath.Join(link, "a.sock")}, "", ""); got != "a.sock" {
		t.Error(got)
	}
}

// A runtime of another version is not taken while that of the node has not answered yet.
func TestFindWaitsForTheRightVersion(t *testing.T) {
	paths := sockets(t, "dockers.sock containerd 1.7.0", "ours.sock")
	file := make(chan string, 1)
	go func() { file <- found(t, paths, "containerd", "2.3.7") }()
	fake := fakecri.New(nil)
	fake.RuntimeName, fake.RuntimeVersion = "containerd", "2.3.7"
	select {
	case file := <-file:
		t.Fatalf("found %s before the runtime of the node answers", file)
	case <-time.After(300 * time.Millisecond):
	}
	stop, err := fake.Serve(paths[1] + ".new")
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if err := os.Rename(paths[1]+".new", paths[1]); err != nil { // there is a socket at every moment
		t.Fatal(err)
	}
	if file := <-file; file != "ours.sock" {
		t.Errorf("found %s", file)
	}
}

// A runtime that comes later is waited for, one that never does is an error.
func TestFindWaits(t *testing.T) {
	path, file := filepath.Join(t.TempDir(), "late.sock"), make(chan string, 1)
	go func() { file <- found(t, []string{path}, "", "") }()
	stop, err := fakecri.New(nil).Serve(path)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if file := <-file; file != "late.sock" {
		t.Errorf("found %s", file)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := nodeagent.Find(ctx, []string{"/nowhere/a.sock"}, "", ""); err == nil || !strings.Contains(err.Error(), "no container runtime answers") {
		t.Errorf("error %v", err)
	}
}

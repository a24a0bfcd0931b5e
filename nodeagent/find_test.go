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

func TestFind(t *testing.T) {
	const ours, dockers, crio = "a.sock containerd 2.3.7", "b.sock containerd 1.7.0", "c.sock cri-o 1.30.0"
	for _, test := range []struct {
		what          string
		runtimes      []string
		name, version string
		want          string // the file
		err           string
	}{
		{"the only one", []string{ours}, "", "", "a.sock", ""},
		{"the only one, named", []string{ours}, "containerd", "2.3.7", "a.sock", ""},
		{"the only one, updated since the kubelet asked", []string{ours}, "containerd", "2.3.6", "a.sock", ""},
		{"the one of the name", []string{ours, crio}, "cri-o", "1.30.0", "c.sock", ""},
		{"the one of the version", []string{dockers, ours}, "containerd", "2.3.7", "a.sock", ""},
		{"two, and no name", []string{ours, crio}, "", "", "", "want one container runtime, found containerd 2.3.7 at unix://"},
		{"two of the name, none of the version", []string{ours, dockers}, "containerd", "2.0.0", "", "want one container runtime, found"},
		{"none of the name", []string{ours}, "cri-o", "1.30.0", "", "want the container runtime cri-o 1.30.0 of the node, found containerd 2.3.7"},
	} {
		t.Run(test.what, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			r, err := nodeagent.Find(ctx, append(sockets(t, test.runtimes...), "/nowhere/containerd.sock"), test.name, test.version)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Fatalf("error %v, want %s", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			if filepath.Base(r.Endpoint) != test.want || r.Check(ctx) != nil {
				t.Errorf("found %s, want %s", r.Endpoint, test.want)
			}
		})
	}
}

// A socket at which no server listens does not answer however long Find waits: so it waits shortly here.
func TestFindBesideDeadSockets(t *testing.T) {
	nodeagent.FindSoon(t)
	const ours = "a.sock containerd 2.3.7"
	for what, test := range map[string]struct {
		runtimes      []string
		name, version string
	}{
		"nothing is known of the node": {[]string{"dead.sock", ours}, "", ""},
		"the node has another version": {[]string{ours, "dead.sock"}, "containerd", "2.3.8"},
	} {
		t.Run(what, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			r, err := nodeagent.Find(ctx, sockets(t, test.runtimes...), test.name, test.version)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			if filepath.Base(r.Endpoint) != "a.sock" || r.Check(ctx) != nil {
				t.Errorf("found %s", r.Endpoint)
			}
		})
	}
}

// One socket under two names is one runtime.
func TestFindOneSocketTwice(t *testing.T) {
	path := sockets(t, "a.sock containerd 2.3.7")[0]
	link := filepath.Join(t.TempDir(), "run")
	if err := os.Symlink(filepath.Dir(path), link); err != nil {
		t.Fatal(err)
	}
	r, err := nodeagent.Find(t.Context(), []string{path, filepath.Join(link, "a.sock")}, "", "")
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
}

// A runtime of another version is not taken while that of the node has not answered yet.
func TestFindWaitsForTheRightVersion(t *testing.T) {
	paths := sockets(t, "dockers.sock containerd 1.7.0", "ours.sock")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	found := make(chan string, 1)
	go func() {
		r, err := nodeagent.Find(ctx, paths, "containerd", "2.3.7")
		if err != nil {
			found <- err.Error()
			return
		}
		defer r.Close()
		found <- r.Version
	}()
	fake := fakecri.New(nil)
	fake.RuntimeName, fake.RuntimeVersion = "containerd", "2.3.7"
	select {
	case version := <-found:
		t.Fatalf("found %s before the runtime of the node answers", version)
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
	if version := <-found; version != "2.3.7" {
		t.Errorf("found %s", version)
	}
}

// A runtime that comes later is waited for, one that never does is an error.
func TestFindWaits(t *testing.T) {
	dir, fake := t.TempDir(), fakecri.New(nil)
	path := filepath.Join(dir, "late.sock")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	found := make(chan error, 1)
	go func() {
		r, err := nodeagent.Find(ctx, []string{path}, "", "")
		if err == nil {
			err = r.Close()
		}
		found <- err
	}()
	stop, err := fake.Serve(path)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if err := <-found; err != nil {
		t.Fatal(err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := nodeagent.Find(ctx, []string{"/nowhere/a.sock"}, "", ""); err == nil || !strings.Contains(err.Error(), "no container runtime answers") {
		t.Errorf("error %v", err)
	}
}

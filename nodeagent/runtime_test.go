// SPDX-License-Identifier: Apache-2.0

package nodeagent_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/podwright/podwright/internal/testing/fakecri"
	"github.com/podwright/podwright/nodeagent"
)

// A runtime goes away and comes back, with its containers; the connection does, too.
func TestRuntimeIsRestarted(t *testing.T) {
	fake, socket := fakecri.New(nil), filepath.Join(t.TempDir(), "cri.sock")
	stop, err := fake.Serve(socket)
	if err != nil {
		t.Fatal(err)
	}
	id := fake.Create(container("uid", "main"))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r, err := nodeagent.Dial(ctx, socket)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.Name != "containerd" || r.Version != "2.0.0" || r.Endpoint != "unix://"+socket {
		t.Errorf("name %q, version %q, endpoint %q", r.Name, r.Version, r.Endpoint)
	}

	stop()
	if _, err := r.Containers(ctx, "uid"); !nodeagent.Unavailable(err) || !strings.Contains(err.Error(), socket+" does not answer") {
		t.Errorf("error %v, want one that says that the runtime does not answer", err)
	}
	if err := r.Check(ctx); !nodeagent.Unavailable(err) {
		t.Errorf("the check gives %v", err)
	}

	stop, err = fake.Serve(socket)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	for r.Check(ctx) != nil {
		if ctx.Err() != nil {
			t.Fatal("the connection does not come back")
		}
	}
	containers, err := r.Containers(ctx, "uid")
	if err != nil || len(containers) != 1 || containers[0].GetId() != id {
		t.Errorf("containers %v, error %v", containers, err)
	}
}

// Dial waits for a runtime that is still starting.
func TestDialWaits(t *testing.T) {
	fake, socket := fakecri.New(nil), filepath.Join(t.TempDir(), "cri.sock")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	dialled := make(chan error, 1)
	go func() {
		r, err := nodeagent.Dial(ctx, "unix://"+socket)
		if err == nil {
			err = r.Close()
		}
		dialled <- err
	}()
	stop, err := fake.Serve(socket)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if err := <-dialled; err != nil {
		t.Error(err)
	}
}

func TestDialFails(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := nodeagent.Dial(ctx, filepath.Join(t.TempDir(), "none.sock"))
	if err == nil || !strings.Contains(err.Error(), "did not answer in time (ask for its version)") {
		t.Errorf("error %v", err)
	}
}

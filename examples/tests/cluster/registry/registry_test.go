// SPDX-License-Identifier: Apache-2.0

package registry_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/podwright/podwright/examples/tests/cluster/registry"
)

// empty is an image that needs nothing of this machine.
var empty = registry.Image{Programs: []string{}}

func start(t *testing.T) *registry.Registry {
	t.Helper()
	r, err := registry.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func add(t *testing.T, r *registry.Registry, name string, image registry.Image) string {
	t.Helper()
	byDigest, err := r.Add(name, image)
	if err != nil {
		t.Fatal(err)
	}
	return byDigest
}

// ask asks for a manifest as a container runtime does, with credentials unless they are empty, and returns the status.
func ask(ctx context.Context, r *registry.Registry, path, host, username string) (int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, "http://"+r.Address()+path+"?ns="+host, nil)
	if err != nil {
		return 0, err
	}
	if username != "" {
		request.SetBasicAuth(username, "word")
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	return response.StatusCode, response.Body.Close()
}

func wantStatus(t *testing.T, r *registry.Registry, path, host, username string, want int) {
	t.Helper()
	if got, err := ask(t.Context(), r, path, host, username); err != nil || got != want {
		t.Errorf("%s of %s: status %d, error %v; want %d", path, host, got, err, want)
	}
}

func TestNames(t *testing.T) {
	r := start(t)
	byDigest := add(t, r, "registry.test/team/app:v1", empty)
	add(t, r, "busybox", empty)
	digest := byDigest[len("registry.test/team/app@"):]
	for _, c := range []struct {
		host, path string
		want       int
	}{
		{"registry.test", "/v2/", 200},
		{"registry.test", "/v2/team/app/manifests/v1", 200},
		{"registry.test", "/v2/team/app/manifests/" + digest, 200},
		{"registry.test", "/v2/team/app/blobs/" + digest, 200},
		{"docker.io", "/v2/library/busybox/manifests/latest", 200},
		{"registry.test", "/v2/team/app/manifests/v2", 404},
		{"other.test", "/v2/team/app/manifests/v1", 404},
		{"registry.test", "/v1/", 404},
	} {
		wantStatus(t, r, c.path, c.host, "", c.want)
	}
	if got := r.Pulls("registry.test/team/app:v1"); got != 1 {
		t.Errorf("%d pulls by tag, want 1", got)
	}
	if got := r.Pulls(byDigest); got != 1 {
		t.Errorf("%d pulls by digest, want 1", got)
	}
	for _, name := range []string{"", "Upper:v1", byDigest} {
		if _, err := r.Add(name, empty); err == nil {
			t.Errorf("an image can be added as %q", name)
		}
	}
}

func TestRemove(t *testing.T) {
	r := start(t)
	add(t, r, "registry.test/app:v1", empty)
	if err := r.Remove("registry.test/app:v1"); err != nil {
		t.Fatal(err)
	}
	wantStatus(t, r, "/v2/app/manifests/v1", "registry.test", "", 404)
	if err := r.Remove("registry.test/app:v1"); err == nil {
		t.Error("an image can be removed twice")
	}
}

// What is in an image is all that its digest depends on.
func TestDigests(t *testing.T) {
	r := start(t)
	first, again := add(t, r, "registry.test/app:v1", empty), add(t, r, "registry.test/app:v2", empty)
	other := add(t, r, "registry.test/app:v3", registry.Image{Programs: []string{}, Env: []string{"A=1"}})
	if first != again {
		t.Errorf("equal images have the digests %s and %s", first, again)
	}
	if first == other {
		t.Error("different images have one digest")
	}
}

func TestBehaviour(t *testing.T) {
	r := start(t)
	for tag, behaviour := range map[string]registry.Behaviour{
		"refused": {Status: http.StatusTooManyRequests},
		"private": {Username: "user", Password: "word"},
	} {
		add(t, r, "registry.test/app:"+tag, empty)
		if err := r.Behave("registry.test/app:"+tag, behaviour); err != nil {
			t.Fatal(err)
		}
	}
	wantStatus(t, r, "/v2/app/manifests/refused", "registry.test", "", 429)
	wantStatus(t, r, "/v2/app/manifests/private", "registry.test", "", 401)
	wantStatus(t, r, "/v2/app/manifests/private", "registry.test", "other", 401)
	wantStatus(t, r, "/v2/app/manifests/private", "registry.test", "user", 200)
	if got := r.Pulls("registry.test/app:refused"); got != 0 {
		t.Errorf("%d pulls of what is refused, want 0", got)
	}
}

func TestDelay(t *testing.T) {
	r := start(t)
	const delay = 100 * time.Millisecond
	add(t, r, "registry.test/app:v1", empty)
	if err := r.Behave("registry.test/app:v1", registry.Behaviour{Delay: delay}); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	wantStatus(t, r, "/v2/app/manifests/v1", "registry.test", "", 200)
	if took := time.Since(begin); took < delay {
		t.Errorf("answered after %s, want %s at least", took, delay)
	}
}

func TestHold(t *testing.T) {
	r := start(t)
	add(t, r, "registry.test/app:v1", empty)
	release, err := r.Hold("registry.test/app:v1")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := ask(ctx, r, "/v2/app/manifests/v1", "registry.test", ""); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a request that is held ends with %v", err)
	}
	awaitWaiting(t, r, 0)
	answered := make(chan int)
	go func() {
		status, _ := ask(t.Context(), r, "/v2/app/manifests/v1", "registry.test", "")
		answered <- status
	}()
	awaitWaiting(t, r, 1)
	release()
	release()
	if status := <-answered; status != 200 {
		t.Errorf("the request that was held is answered with %d", status)
	}
	awaitWaiting(t, r, 0)
}

// awaitWaiting waits until that many requests for the image wait.
func awaitWaiting(t *testing.T, r *registry.Registry, want int) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(time.Minute); r.Waiting("registry.test/app:v1") != want; <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("%d requests wait, want %d", r.Waiting("registry.test/app:v1"), want)
		}
	}
}

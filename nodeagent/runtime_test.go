// SPDX-License-Identifier: Apache-2.0

package nodeagent_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/podwright/podwright/internal/testing/fakecri"
	"github.com/podwright/podwright/nodeagent"
)

// container returns a running container of a pod.
func container(pod, name string) fakecri.Container {
	return fakecri.Container{Status: &criv1.ContainerStatus{
		Metadata: &criv1.ContainerMetadata{Name: name},
		Labels:   map[string]string{nodeagent.PodUIDLabel: pod, nodeagent.ContainerNameLabel: name},
	}}
}

// direct returns a Runtime without a socket.
func direct(t *testing.T, fake *fakecri.Runtime) *nodeagent.Runtime {
	t.Helper()
	r, err := nodeagent.NewRuntime(t.Context(), fake.Conn(), "test")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

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
	for _, test := range []struct{ endpoint, want string }{
		{"containerd.sock", `container runtime "containerd.sock": want the path of a socket`},
		{"tcp://10.0.0.1:80", `container runtime "tcp://10.0.0.1:80": want the path of a socket`},
		{"", `container runtime "": want the path of a socket`},
		{filepath.Join(t.TempDir(), "none.sock"), "did not answer in time (ask for its version)"},
	} {
		if _, err := nodeagent.Dial(ctx, test.endpoint); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %s", test.endpoint, err, test.want)
		}
	}
}

func TestRuntimeWithoutV1(t *testing.T) {
	fake := fakecri.New(nil)
	fake.FailWith(func(string) error {
		return status.Error(codes.Unimplemented, "unknown service runtime.v1.RuntimeService")
	})
	_, err := nodeagent.NewRuntime(t.Context(), fake.Conn(), "unix:///old.sock")
	if err == nil || !strings.Contains(err.Error(), "unix:///old.sock cannot ask for its version: it must serve CRI v1") {
		t.Errorf("error %v", err)
	}
}

func TestRuntimeCalls(t *testing.T) {
	fake := fakecri.New(nil)
	id := fake.Create(container("uid", "main"))
	fake.Create(container("another", "main"))
	fake.AddSandbox(&criv1.PodSandboxStatus{Id: "box", Network: &criv1.PodSandboxNetworkStatus{Ip: "10.0.0.7"}})
	fake.AddImage(&criv1.Image{Id: "sha256:1", RepoTags: []string{"docker.io/library/nginx:1"}})
	r, ctx := direct(t, fake), t.Context()

	containers, err := r.Containers(ctx, "uid")
	if err != nil || len(containers) != 1 || containers[0].GetId() != id {
		t.Errorf("containers %v, error %v", containers, err)
	}
	if s, err := r.ContainerStatus(ctx, id, false); err != nil || s.GetStatus().GetId() != id || len(s.GetInfo()) != 0 {
		t.Errorf("status %v, error %v", s, err)
	}
	if s, err := r.ContainerStatus(ctx, id, true); err != nil || s.GetInfo()["info"] == "" {
		t.Errorf("verbose status %v, error %v", s, err)
	}
	if s, err := r.SandboxStatus(ctx, "box"); err != nil || s.GetNetwork().GetIp() != "10.0.0.7" {
		t.Errorf("sandbox %v, error %v", s, err)
	}
	if images, err := r.Images(ctx); err != nil || len(images) != 1 {
		t.Errorf("images %v, error %v", images, err)
	}
	if image, err := r.Image(ctx, "docker.io/library/nginx:1"); err != nil || image.GetId() != "sha256:1" {
		t.Errorf("image %v, error %v", image, err)
	}
	if image, err := r.Image(ctx, "busybox"); err != nil || image != nil {
		t.Errorf("an image that is not there: %v, error %v", image, err)
	}
	reference, err := r.PullImage(ctx, &criv1.PullImageRequest{Image: &criv1.ImageSpec{Image: "busybox:1"}})
	if err != nil || reference != "sha256:busybox:1" {
		t.Errorf("pulled %q, error %v", reference, err)
	}
	if _, err := r.ContainerStatus(ctx, "none", false); !nodeagent.NotFound(err) {
		t.Errorf("error %v for a container that is not there", err)
	}
}

// The runtime is given the time that it was promised, and little more.
func TestRuntimeDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := fakecri.New(nil)
		slow := container("uid", "main")
		slow.EndsAfter = time.Hour
		id := fake.Create(slow)
		fake.Command = func(ctx context.Context, _ fakecri.Container, _ []string) (*criv1.ExecSyncResponse, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		r := direct(t, fake)
		start := time.Now()
		if _, err := r.Exec(t.Context(), id, []string{"sleep", "60"}, 2500*time.Millisecond); status.Code(err) != codes.DeadlineExceeded {
			t.Errorf("error %v", err)
		}
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("the command took %s, want whole seconds", took)
		}
		start = time.Now()
		if err := r.StopContainer(t.Context(), id, 28*time.Second); err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took != 28*time.Second {
			t.Errorf("the stop took %s", took)
		}
	})
}

// busy is a runtime whose answers take their time.
type busy struct {
	grpc.ClientConnInterface
	takes time.Duration
}

func (b busy) Invoke(ctx context.Context, method string, arguments, answer any, options ...grpc.CallOption) error {
	select {
	case <-time.After(b.takes):
		return b.ClientConnInterface.Invoke(ctx, method, arguments, answer, options...)
	case <-ctx.Done():
		return status.FromContextError(ctx.Err()).Err()
	}
}

// A node that has much to do stops containers late, not never.
func TestStopOnABusyNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := fakecri.New(nil)
		id := fake.Create(container("uid", "main"))
		r, err := nodeagent.NewRuntime(t.Context(), busy{fake.Conn(), 9 * time.Second}, "unix:///run/test.sock")
		if err != nil {
			t.Fatal(err)
		}
		if err := r.StopContainer(t.Context(), id, 2*time.Second); err != nil {
			t.Error(err)
		}
		if _, err := r.Exec(t.Context(), id, []string{"true"}, time.Second); status.Code(err) == codes.DeadlineExceeded {
			t.Errorf("the command was given up: %v", err)
		}
	})
}

// A container that is gone needs no stop.
func TestStopOfNothing(t *testing.T) {
	fake := fakecri.New(nil)
	r := direct(t, fake)
	if err := r.StopContainer(t.Context(), "none", time.Second); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"Version", "StopContainer none 1s"}, fake.Calls()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// A runtime that stops a container and answers too late has stopped it; one that
// answers too late and has not stopped it has failed.
func TestStopThatIsAnsweredLate(t *testing.T) {
	for name, ends := range map[string]func(*fakecri.Runtime, string){
		"ended": func(fake *fakecri.Runtime, id string) { fake.End(id, 143) },
		"gone":  func(fake *fakecri.Runtime, id string) { fake.Remove(id) },
		"runs":  nil,
	} {
		for _, code := range []codes.Code{codes.DeadlineExceeded, codes.Unknown} {
			fake := fakecri.New(nil)
			id := fake.Create(container("uid", "main"))
			r := direct(t, fake)
			fake.FailWith(func(method string) error {
				if method != "StopContainer" {
					return nil
				}
				if ends != nil {
					ends(fake, id)
				}
				return status.Error(code, "late")
			})
			if err := r.StopContainer(t.Context(), id, time.Second); (err != nil) != (ends == nil) {
				t.Errorf("%s, %s: error %v", name, code, err)
			}
		}
	}
}

// Errors of a runtime go into the status of objects: they are cut, and hold none of
// the secrets that are in URLs.
func TestErrorsAreReadable(t *testing.T) {
	for _, test := range []struct{ says, want string }{
		{`pull "web:1": GET https://store.example/blobs/ab?X-Amz-Signature=cd&e=f: 403`, `pull "web:1": GET https://store.example/blobs/ab 403`},
		{`Get "https://auth.example/token?scope=a%3Ab": EOF`, `Get "https://auth.example/token": EOF`},
		{`GET https://user:geheim@registry.example/v2/: 401`, `GET https://registry.example/v2/: 401`},
		{`store.example/ab?sig=cd is gone`, `store.example/ab is gone`},
		{`is it there? image@sha256:ab is not`, `is it there? image@sha256:ab is not`},
		{strings.Repeat("ü", 2000) + " is full", strings.Repeat("ü", 200) + " is full"},
	} {
		fake := fakecri.New(nil)
		r := direct(t, fake)
		fake.FailWith(func(string) error { return status.Error(codes.NotFound, test.says) })
		_, err := r.ContainerStatus(t.Context(), "c1", false)
		if !nodeagent.NotFound(err) {
			t.Errorf("the code is lost: %v", err)
		}
		if text := err.Error(); !strings.Contains(text, test.want) || len(text) > 1200 || !utf8.ValidString(text) {
			t.Errorf("%s\nwant %s", text, test.want)
		}
	}
}

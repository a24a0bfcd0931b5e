// SPDX-License-Identifier: Apache-2.0

// Package fakecri is a container runtime in memory, for tests of what runs on a
// node. It speaks CRI v1, as containerd does, without containers: it keeps
// sandboxes, containers and images, answers commands, and takes its time to stop
// a container.
//
// It is reached in two ways. [Runtime.Conn] calls it directly: no socket is
// opened and no goroutine started, so it works in a testing/synctest bubble,
// where time is virtual. [Runtime.Serve] serves a real socket, and can be
// ended and called again, as when a runtime is restarted.
//
// [Kubelet] plays the part of the kubelet, one step per call: it creates
// containers for pods, and writes down what became of them.
package fakecri

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/utils/clock"
)

// defaultName is what the runtime calls itself if nothing else is said.
const defaultName = "containerd"

// Runtime is a container runtime in memory. New makes one. Its methods can be
// called by several goroutines; its fields are set before.
type Runtime struct {
	criv1.UnimplementedRuntimeServiceServer
	criv1.UnimplementedImageServiceServer

	// Command answers a command in a container. Default: env.
	Command func(ctx context.Context, c Container, command []string) (*criv1.ExecSyncResponse, error)
	// Silent leaves out of the status what CRI does not say: the environment.
	Silent bool
	// Pull answers a request for an image before it is there. Default nil: it
	// is there at once.
	Pull func(ctx context.Context, request *criv1.PullImageRequest) error

	// RuntimeName and RuntimeVersion are what it calls itself. Default: containerd and 2.0.0.
	RuntimeName, RuntimeVersion string

	clock clock.WithTicker

	lock       sync.Mutex
	down       bool
	fail       func(method string) error
	calls      []string
	created    int
	sandboxes  map[string]*criv1.PodSandboxStatus
	containers map[string]*Container
	images     map[string]*criv1.Image
}

// New returns a runtime without containers. Nil stands for the real clock.
func New(c clock.WithTicker) *Runtime {
	if c == nil {
		c = clock.RealClock{}
	}
	return &Runtime{
		clock: c, sandboxes: map[string]*criv1.PodSandboxStatus{},
		containers: map[string]*Container{}, images: map[string]*criv1.Image{},
	}
}

// SetDown has the runtime be down, or back again: calls fail as those do that
// find no server at a socket. What it keeps stays.
func (r *Runtime) SetDown(down bool) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.down = down
}

// FailWith has a function called before every call, with the name of its method;
// an error is the answer. Nil takes the function away.
func (r *Runtime) FailWith(fail func(method string) error) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.fail = fail
}

// Calls returns the calls so far, as "Method", or "Method what" if a
// container or an image is the matter, in order. Those that were refused count.
func (r *Runtime) Calls() []string {
	r.lock.Lock()
	defer r.lock.Unlock()
	return slices.Clone(r.calls)
}

// ForgetCalls empties the list of calls.
func (r *Runtime) ForgetCalls() {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.calls = nil
}

// enter notes a call and says whether it is refused.
func (r *Runtime) enter(method string, what ...string) error {
	r.lock.Lock()
	r.calls = append(r.calls, strings.Join(append([]string{method}, what...), " "))
	down, fail := r.down, r.fail
	r.lock.Unlock()
	if down {
		return status.Error(codes.Unavailable, "connection error: no such file or directory")
	}
	if fail != nil {
		return fail(method)
	}
	return nil
}

// Version names the runtime.
func (r *Runtime) Version(context.Context, *criv1.VersionRequest) (*criv1.VersionResponse, error) {
	if err := r.enter("Version"); err != nil {
		return nil, err
	}
	return &criv1.VersionResponse{
		Version: "0.1.0", RuntimeName: cmp.Or(r.RuntimeName, defaultName), RuntimeVersion: cmp.Or(r.RuntimeVersion, "2.0.0"), RuntimeApiVersion: "v1",
	}, nil
}

func notFound(kind, id string) error {
	return status.Error(codes.NotFound, fmt.Sprintf("%s %q: not found", kind, id))
}

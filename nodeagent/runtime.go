// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"context"
	"fmt"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Limits of a connection to a container runtime.
const (
	// answerTimeout is how long a call may take that does no more than look
	// something up.
	answerTimeout = 10 * time.Second
	// stopSlack is what a runtime has beside the time that a container or a command is
	// given, to say what came of it. The kubelet gives it as long. A busy node needs more
	// than seconds, and a stop that is given up is final.
	stopSlack = 2 * time.Minute
	// mostAnswer is the size in bytes of the largest answer, as the kubelet
	// takes it.
	mostAnswer = 16 << 20
	// longestReconnect is the longest pause between two tries to reach a
	// runtime that is gone.
	longestReconnect = 3 * time.Second
)

// Runtime is the container runtime of a node, reached over the Container
// Runtime Interface (CRI) in its version v1. Dial makes one. Its methods can be
// called by several goroutines; the features of the node agent share one
// Runtime.
//
// A runtime may be restarted at any time. Calls that are under way then fail, and
// so do calls until it is back, with an error for which [Unavailable] holds. The
// connection comes back by itself, at most 3 s after the runtime.
type Runtime struct {
	// Endpoint is the address of the runtime, as errors show it.
	Endpoint string
	// Name is what the runtime calls itself: "containerd", "cri-o". IDs of
	// containers begin with it in the status of a pod; see ContainerID.
	Name string
	// Version is the version of the runtime when it was first asked.
	Version string
	// NodeAddress is the address of the node, as its kubelet has told it, see NodeAddressOf. Probes and hooks of pods in the network of
	// the node go there. It is set before the Runtime is used. Empty: the address from which the node would reach other networks. (PPM-4.4)
	NodeAddress string

	containers criv1.RuntimeServiceClient
	images     criv1.ImageServiceClient
	close      func() error
}

// Dial connects to the runtime behind a socket and asks for its name. The
// endpoint is a path, or one with the scheme unix: unix:///run/containerd/containerd.sock.
// Dial waits for a runtime that does not answer yet until the context is done,
// which should therefore have a deadline.
func Dial(ctx context.Context, endpoint string) (*Runtime, error) {
	path := strings.TrimPrefix(endpoint, "unix://")
	if !strings.HasPrefix(path, "/") {
		return nil, fmt.Errorf("container runtime %q: want the path of a socket, such as unix:///run/containerd/containerd.sock", endpoint)
	}
	reconnect := backoff.DefaultConfig
	reconnect.BaseDelay, reconnect.MaxDelay = 100*time.Millisecond, longestReconnect
	conn, err := grpc.NewClient("unix://"+path,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: reconnect, MinConnectTimeout: answerTimeout}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(mostAnswer)))
	if err != nil {
		return nil, fmt.Errorf("container runtime %s: %w", endpoint, err)
	}
	r, err := NewRuntime(ctx, conn, "unix://"+path)
	if err != nil {
		conn.Close()
		return nil, err
	}
	r.close = conn.Close
	return r, nil
}

// NewRuntime returns the Runtime behind a connection of the caller's, who closes
// it, and waits for it to answer as Dial does. The endpoint stands in errors.
// Most programs call Dial.
func NewRuntime(ctx context.Context, conn grpc.ClientConnInterface, endpoint string) (*Runtime, error) {
	r := &Runtime{
		Endpoint:   endpoint,
		containers: criv1.NewRuntimeServiceClient(conn), images: criv1.NewImageServiceClient(conn),
		close: func() error { return nil },
	}
	answer, err := r.containers.Version(ctx, &criv1.VersionRequest{}, grpc.WaitForReady(true))
	if err != nil {
		return nil, r.failed(err, "ask for its version")
	}
	r.Name, r.Version = answer.GetRuntimeName(), answer.GetRuntimeVersion()
	return r, nil
}

// Close ends the connection. Calls fail from then on.
func (r *Runtime) Close() error { return r.close() }

// Check returns an error if the runtime does not answer.
func (r *Runtime) Check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	_, err := r.containers.Version(ctx, &criv1.VersionRequest{})
	return r.failed(err, "ask for its version")
}

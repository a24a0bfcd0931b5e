// SPDX-License-Identifier: Apache-2.0

package fakecri

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Conn returns a connection that calls the runtime directly.
func (r *Runtime) Conn() grpc.ClientConnInterface { return conn{r} }

type conn struct{ *Runtime }

// Invoke calls a method on copies of its arguments.
func (c conn) Invoke(ctx context.Context, method string, arguments, answer any, _ ...grpc.CallOption) error {
	if err := ctx.Err(); err != nil {
		return status.FromContextError(err).Err()
	}
	_, name, _ := strings.Cut(strings.TrimPrefix(method, "/"), "/")
	for _, service := range []grpc.ServiceDesc{criv1.RuntimeService_ServiceDesc, criv1.ImageService_ServiceDesc} {
		for _, m := range service.Methods {
			if method != "/"+service.ServiceName+"/"+name || m.MethodName != name {
				continue
			}
			got, err := m.Handler(c.Runtime, ctx, func(into any) error { return carry(into, arguments) }, nil)
			if err != nil {
				return asStatus(err)
			}
			return carry(answer, got)
		}
	}
	return status.Errorf(codes.Unimplemented, "unknown method %s", method)
}

// NewStream fails: no stream of CRI is played.
func (conn) NewStream(context.Context, *grpc.StreamDesc, string, ...grpc.CallOption) (grpc.ClientStream, error) {
	return nil, status.Error(codes.Unimplemented, "fakecri plays no streams")
}

func carry(into, from any) error {
	to, ok := into.(proto.Message)
	message, also := from.(proto.Message)
	if !ok || !also {
		return fmt.Errorf("%T and %T are not both protobuf messages", into, from)
	}
	proto.Merge(to, message)
	return nil
}

// asStatus returns the error that comes out at the other end of a connection.
func asStatus(err error) error {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return status.FromContextError(err).Err()
	}
	return status.Convert(err).Err()
}

// Serve serves a socket until the function that it returns is called, which
// ends all connections at once.
func (r *Runtime) Serve(socket string) (stop func(), err error) {
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return nil, err
	}
	server := grpc.NewServer()
	criv1.RegisterRuntimeServiceServer(server, r)
	criv1.RegisterImageServiceServer(server, r)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(listener) // until Stop
	}()
	return func() {
		server.Stop()
		<-ended
	}, nil
}

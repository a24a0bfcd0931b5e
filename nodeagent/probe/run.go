// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/nodeagent"
	"github.com/podwright/podwright/nodeagent/internal/podnet"
)

// slack is what the runtime has beside the time of a command, to say what came of it.
const slack = 10 * time.Second

// run runs a probe once. Every call that it makes ends in time.
func (r *reconciler) run(ctx context.Context, s *Start) (o probeOutcome) {
	defer func() { o.At = r.options.Clock.Now() }()
	c, err := r.container(ctx, s)
	if c == nil || err != nil {
		return probeOutcome{Reason: reason(err, "there is no such container")}
	}
	o = probeOutcome{ContainerID: c.GetId(), CreatedAt: time.Unix(0, c.GetCreatedAt())}
	switch c.GetState() {
	case criv1.ContainerState_CONTAINER_EXITED:
		o.Ended = true
		return o
	case criv1.ContainerState_CONTAINER_RUNNING:
	default:
		o.Reason = "the container has not been started"
		return o
	}
	if o.StartedAt, err = r.startedAt(ctx, s, c); err != nil {
		o.Reason = err.Error()
		return o
	}
	if at := o.StartedAt.Add(s.InitialDelay); at.After(r.options.Clock.Now()) {
		o.Reason, o.Retry = "the container has not run for the initial delay", at
		return o
	}
	switch {
	case s.Handler.Exec != nil:
		r.exec(ctx, s, c, &o)
	case s.Handler.HTTPGet != nil:
		r.get(ctx, s, c, &o)
	case s.Handler.TCPSocket != nil:
		r.connect(ctx, s, c, &o)
	}
	return o
}

func reason(err error, otherwise string) string {
	if err != nil {
		return err.Error()
	}
	return otherwise
}

// container returns the newest container of the name, nil for none. One that the kubelet has created for another pod does
// not count, whatever the UID. (PPM-4.1)
func (r *reconciler) container(ctx context.Context, s *Start) (*criv1.Container, error) {
	all, err := r.options.Runtime.Containers(ctx, s.UID)
	if err != nil {
		return nil, err
	}
	c := nodeagent.Newest(all)[s.Container]
	if nodeagent.PodOf(c.GetLabels()) != (nodeagent.PodIdentity{Namespace: s.Namespace, Name: s.Pod, UID: s.UID}) {
		return nil, nil
	}
	return c, nil
}

// startedAt returns when a container was started, which the runtime is asked once.
func (r *reconciler) startedAt(ctx context.Context, s *Start, c *criv1.Container) (time.Time, error) {
	if s.ContainerID == c.GetId() && !s.StartedAt.IsZero() {
		return s.StartedAt, nil
	}
	answer, err := r.options.Runtime.ContainerStatus(ctx, c.GetId(), false)
	if err != nil {
		return time.Time{}, err
	}
	return time.Unix(0, answer.GetStatus().GetStartedAt()), nil
}

// exec runs a command in the container. (PPM-4.4, PPM-4.5, PPM-4.7)
func (r *reconciler) exec(ctx context.Context, s *Start, c *criv1.Container, o *probeOutcome) {
	ctx, cancel := context.WithTimeout(ctx, s.Timeout+slack)
	defer cancel()
	answer, err := r.options.Runtime.Exec(ctx, c.GetId(), s.Handler.Exec.Command, s.Timeout)
	switch {
	case err == nil && answer.GetExitCode() == 0:
		o.Result, o.Output = v1alpha1.ProbeSucceeded, output(answer.GetStdout())
	case err == nil:
		o.fail("the command ended with exit code %d", answer.GetExitCode())
		o.Output = output(answer.GetStderr())
	case ctx.Err() == nil && status.Code(err) == codes.DeadlineExceeded:
		o.fail("the command did not end within %v", s.Timeout)
	default:
		o.Reason = err.Error()
	}
	if s.HideOutput {
		o.Output = ""
	}
}

func (o *probeOutcome) fail(format string, args ...any) {
	o.Result, o.Message = v1alpha1.ProbeFailed, fmt.Sprintf(format, args...)
}

// get asks a server in the pod. (PPM-4.4)
func (r *reconciler) get(ctx context.Context, s *Start, c *criv1.Container, o *probeOutcome) {
	address, ports, err := r.reach(ctx, c)
	if err != nil {
		o.Reason = err.Error()
		return
	}
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	request, err := podnet.Get(ctx, s.Handler.HTTPGet, address, ports)
	if err != nil {
		o.Reason = err.Error()
		return
	}
	transport := podnet.Transport()
	defer transport.CloseIdleConnections()
	answer, err := transport.RoundTrip(request)
	switch {
	case err == nil:
		_, _ = io.CopyN(io.Discard, answer.Body, 1<<10)
		answer.Body.Close()
		if code := answer.StatusCode; code < http.StatusOK || code >= http.StatusBadRequest {
			o.fail("the server answered with the status code %d", code)
			return
		}
		o.Result = v1alpha1.ProbeSucceeded
	case timedOut(err):
		o.fail("the server did not answer within %v", s.Timeout)
	case errors.Is(err, context.Canceled):
		o.Reason = err.Error()
	default:
		o.fail("there is no server that answers over %s", strings.ToUpper(request.URL.Scheme))
	}
}

// connect connects to a port of the pod. (PPM-4.4)
func (r *reconciler) connect(ctx context.Context, s *Start, c *criv1.Container, o *probeOutcome) {
	address, ports, err := r.reach(ctx, c)
	if err != nil {
		o.Reason = err.Error()
		return
	}
	port, err := podnet.Port(s.Handler.TCPSocket.Port, ports)
	if err != nil {
		o.Reason = err.Error()
		return
	}
	dialer := net.Dialer{Timeout: s.Timeout}
	conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(address, strconv.Itoa(int(port))))
	switch {
	case err == nil:
		conn.Close()
		o.Result = v1alpha1.ProbeSucceeded
	case ctx.Err() != nil:
		o.Reason = err.Error()
	case timedOut(err):
		o.fail("there was no connection to the port within %v", s.Timeout)
	default:
		o.fail("there is no connection to the port")
	}
}

func timedOut(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// reach returns the address of the pod of a container, and the ports that have names there.
func (r *reconciler) reach(ctx context.Context, c *criv1.Container) (address string, ports []corev1.ContainerPort, err error) {
	if text := c.GetAnnotations()[nodeagent.PortsAnnotation]; text != "" {
		if err := json.Unmarshal([]byte(text), &ports); err != nil {
			return "", nil, fmt.Errorf("container %s: annotation %s: %w", c.GetId(), nodeagent.PortsAnnotation, err)
		}
	}
	address, err = podnet.Address(ctx, r.options.Runtime, c.GetPodSandboxId(), r.nodeAddress)
	return address, ports, err
}

// SPDX-License-Identifier: Apache-2.0

// Package stop stops a container as the kubelet would: its preStop hook runs
// first, and both have the grace period together. What is decided is in plan.go,
// as pure functions; the rest applies it.
package stop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/nodeagent"
)

// Stopper stops containers. It is safe for use by several goroutines; its
// fields are set before.
type Stopper struct {
	// Runtime is required.
	Runtime *nodeagent.Runtime
	// Clock measures hooks. Required.
	Clock clock.WithTicker
	// Recorder receives events about the pod. Default nil: no events.
	Recorder record.EventRecorder
	// MaxGrace bounds the grace period of every request. Default defaultMaxGrace.
	MaxGrace time.Duration
	// http makes the requests of hooks. Default: one that takes every certificate
	// and follows no redirects.
	http http.RoundTripper
	// nodeAddress tells to which address a hook of a pod in the network of the node goes. Default: what Runtime says, or that of the process.
	nodeAddress func() (string, error)
}

// defaultMaxGrace is the longest grace period if nothing else is said. A caller that
// waits for a container holds a worker, and may ask for years.
const defaultMaxGrace = 24 * time.Hour

// failedHook is the message of the event about a hook that has failed. Neither what it
// has printed nor what it was called with belongs into an event. More people can read
// that than may run commands in the pod. The log has the reason.
const failedHook = "preStop hook failed, the container is stopped nevertheless; the log of the node agent says why"

// Stop runs the hook of a container, stops it, and waits for its end. The
// message is that of the event which announces it. A hook that fails is
// recorded as an event and holds nothing up. The error says that the container may not have
// stopped.
func (s *Stopper) Stop(ctx context.Context, request *Request, message string) error {
	r := request.within(cmp.Or(s.MaxGrace, defaultMaxGrace))
	s.event(r, corev1.EventTypeNormal, lifecyclev1alpha1.ContainerRecreateEventKilling, message)
	var took time.Duration
	if r.runsHook() {
		start := s.Clock.Now()
		err := s.runHook(ctx, r)
		if ctx.Err() != nil {
			return fmt.Errorf("container %s: ended in its preStop hook: %w", r.ID, context.Cause(ctx))
		}
		took = s.Clock.Since(start)
		if err != nil {
			klog.FromContext(ctx).Info("The preStop hook failed, stopping the container nevertheless", "container", r.ID, "reason", err.Error())
			s.event(r, corev1.EventTypeWarning, lifecyclev1alpha1.ContainerRecreateEventFailedPreStopHook, failedHook)
		}
	}
	return s.Runtime.StopContainer(ctx, r.ID, r.graceAfter(took))
}

// runHook runs the hook, for as long as the grace period at most.
func (s *Stopper) runHook(ctx context.Context, r *Request) error {
	limit, cancel := context.WithCancel(ctx)
	defer cancel()
	timer := s.Clock.NewTimer(r.grace())
	defer timer.Stop()
	ended := make(chan error, 1)
	go func() { ended <- s.hook(limit, r) }()
	select {
	case err := <-ended:
		return err
	case <-timer.C():
	case <-ctx.Done():
	}
	cancel()
	<-ended
	return fmt.Errorf("it has not ended within the grace period of %s", r.grace())
}

// hook runs the hook until it ends, or the context is done.
func (s *Stopper) hook(ctx context.Context, r *Request) error {
	switch hook := r.PreStop; {
	case hook.Exec != nil:
		return s.exec(ctx, r, hook.Exec.Command)
	case hook.HTTPGet != nil:
		return s.get(ctx, r, hook.HTTPGet)
	case hook.Sleep != nil:
		return s.sleep(ctx, hook.Sleep.Seconds)
	case hook.TCPSocket != nil:
		return errors.New("tcpSocket is no hook that can run, here or by the kubelet; use exec, httpGet or sleep")
	}
	return errors.New("it is of an unknown kind: want exec, httpGet or sleep")
}

func (s *Stopper) exec(ctx context.Context, r *Request, command []string) error {
	answer, err := s.Runtime.Exec(ctx, r.ID, command, r.grace())
	if err != nil {
		return err
	}
	if code := answer.GetExitCode(); code != 0 {
		return fmt.Errorf("the command ended with exit code %d", code)
	}
	return nil
}

func (s *Stopper) sleep(ctx context.Context, seconds int64) error {
	if seconds <= 0 {
		return nil
	}
	timer := s.Clock.NewTimer(time.Duration(min(seconds, int64(mostGrace/time.Second))) * time.Second)
	defer timer.Stop()
	select {
	case <-timer.C():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *Stopper) event(r *Request, kind, reason, message string) {
	if s.Recorder != nil {
		s.Recorder.Event(&r.Pod, kind, reason, message)
	}
}

// SPDX-License-Identifier: Apache-2.0

package fakecri

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Container is a container of the runtime.
type Container struct {
	// Status is what the runtime reports. Create gives it an ID and its times.
	Status *criv1.ContainerStatus
	// SandboxID is the ID of its sandbox.
	SandboxID string
	// env is the environment that it was configured with, as NAME=VALUE.
	env []string
	// EndsAfter is how long it goes on after it was told to stop. Default: it
	// ends at once.
	EndsAfter time.Duration

	// told is when it was told to stop; zero for not yet.
	told time.Time
}

func (c *Container) copied() Container {
	out := *c
	out.Status = proto.CloneOf(c.Status)
	out.env = slices.Clone(c.env)
	return out
}

// Create creates and starts a container, and returns its ID.
func (r *Runtime) Create(c Container) string {
	r.lock.Lock()
	defer r.lock.Unlock()
	c = c.copied()
	r.created++
	now := r.clock.Now().UnixNano() + int64(r.created) // no two are of the same time
	if c.Status.Id == "" {
		c.Status.Id = fmt.Sprintf("%s-%d", cmp.Or(c.Status.GetMetadata().GetName(), "container"), r.created)
	}
	c.Status.State, c.Status.CreatedAt, c.Status.StartedAt = criv1.ContainerState_CONTAINER_RUNNING, now, now
	r.containers[c.Status.Id] = &c
	return c.Status.Id
}

// AddSandbox has the runtime know a sandbox.
func (r *Runtime) AddSandbox(sandbox *criv1.PodSandboxStatus) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.sandboxes[sandbox.GetId()] = proto.CloneOf(sandbox)
}

// End has a running container end by itself, with an exit code.
func (r *Runtime) End(id string, code int32) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if c := r.containers[id]; c != nil && c.Status.State == criv1.ContainerState_CONTAINER_RUNNING {
		c.Status.State, c.Status.FinishedAt, c.Status.ExitCode = criv1.ContainerState_CONTAINER_EXITED, r.clock.Now().UnixNano(), code
	}
}

// SetEndsAfter sets how long a container goes on after it was told to stop.
func (r *Runtime) SetEndsAfter(id string, after time.Duration) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if c := r.containers[id]; c != nil {
		c.EndsAfter = after
	}
}

// Remove removes a container.
func (r *Runtime) Remove(id string) {
	r.lock.Lock()
	defer r.lock.Unlock()
	delete(r.containers, id)
}

// Containers returns the containers, oldest first.
func (r *Runtime) Containers() []Container {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.settle()
	out := make([]Container, 0, len(r.containers))
	for _, c := range r.containers {
		out = append(out, c.copied())
	}
	slices.SortFunc(out, func(a, b Container) int { return cmp.Compare(a.Status.CreatedAt, b.Status.CreatedAt) })
	return out
}

// ListContainers lists the containers that have all labels of the filter.
func (r *Runtime) ListContainers(_ context.Context, request *criv1.ListContainersRequest) (*criv1.ListContainersResponse, error) {
	if err := r.enter("ListContainers"); err != nil {
		return nil, err
	}
	answer := &criv1.ListContainersResponse{}
	for _, c := range r.Containers() {
		if !selects(request.GetFilter(), &c) {
			continue
		}
		answer.Containers = append(answer.Containers, &criv1.Container{
			Id: c.Status.Id, PodSandboxId: c.SandboxID, Metadata: c.Status.Metadata, Image: c.Status.Image, ImageRef: c.Status.ImageRef,
			State: c.Status.State, CreatedAt: c.Status.CreatedAt, Labels: c.Status.Labels, Annotations: c.Status.Annotations,
		})
	}
	return answer, nil
}

func selects(filter *criv1.ContainerFilter, c *Container) bool {
	for key, value := range filter.GetLabelSelector() {
		if c.Status.Labels[key] != value {
			return false
		}
	}
	return filter.GetId() == "" || filter.GetId() == c.Status.Id
}

// ContainerStatus returns the status of a container, with its environment in
// the shape in which containerd has it.
func (r *Runtime) ContainerStatus(_ context.Context, request *criv1.ContainerStatusRequest) (*criv1.ContainerStatusResponse, error) {
	if err := r.enter("ContainerStatus", request.GetContainerId()); err != nil {
		return nil, err
	}
	c, err := r.container(request.GetContainerId())
	if err != nil {
		return nil, err
	}
	answer := &criv1.ContainerStatusResponse{Status: c.Status}
	if request.GetVerbose() && !r.Silent {
		info, err := json.Marshal(map[string]any{
			"sandboxID": c.SandboxID, "pid": 4711,
			"runtimeSpec": map[string]any{"process": map[string]any{"args": []string{"serve"}, "env": c.env}},
		})
		if err != nil {
			return nil, err
		}
		answer.Info = map[string]string{"info": string(info)}
	}
	return answer, nil
}

func (r *Runtime) container(id string) (Container, error) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.settle()
	c := r.containers[id]
	if c == nil {
		return Container{}, notFound("container", id)
	}
	return c.copied(), nil
}

// PodSandboxStatus returns the status of a sandbox.
func (r *Runtime) PodSandboxStatus(_ context.Context, request *criv1.PodSandboxStatusRequest) (*criv1.PodSandboxStatusResponse, error) {
	if err := r.enter("PodSandboxStatus", request.GetPodSandboxId()); err != nil {
		return nil, err
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	sandbox := r.sandboxes[request.GetPodSandboxId()]
	if sandbox == nil {
		return nil, notFound("sandbox", request.GetPodSandboxId())
	}
	return &criv1.PodSandboxStatusResponse{Status: proto.CloneOf(sandbox)}, nil
}

// ExecSync runs a command in a running container.
func (r *Runtime) ExecSync(ctx context.Context, request *criv1.ExecSyncRequest) (*criv1.ExecSyncResponse, error) {
	if err := r.enter("ExecSync", request.GetContainerId(), strings.Join(request.GetCmd(), " ")); err != nil {
		return nil, err
	}
	c, err := r.container(request.GetContainerId())
	if err != nil {
		return nil, err
	}
	if c.Status.State != criv1.ContainerState_CONTAINER_RUNNING {
		return nil, status.Errorf(codes.Unknown, "container is in state %s", c.Status.State)
	}
	if request.GetTimeout() > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(request.GetTimeout())*time.Second)
		defer cancel()
	}
	run := r.Command
	if run == nil {
		run = Env
	}
	answer, err := run(ctx, c, request.GetCmd())
	if err == nil && ctx.Err() != nil {
		err = status.Error(codes.DeadlineExceeded, "timeout exceeded")
	}
	return answer, err
}

// Env answers the command env, as the one of GNU does, and knows no other.
func Env(ctx context.Context, c Container, command []string) (*criv1.ExecSyncResponse, error) {
	switch strings.Join(command, " ") {
	case "env":
		return &criv1.ExecSyncResponse{Stdout: []byte(strings.Join(c.env, "\n") + "\n")}, nil
	case "env -0":
		return &criv1.ExecSyncResponse{Stdout: []byte(strings.Join(c.env, "\x00") + "\x00")}, nil
	}
	return NoCommand(ctx, c, command)
}

// NoCommand answers every command as a container does that does not have it.
func NoCommand(_ context.Context, _ Container, command []string) (*criv1.ExecSyncResponse, error) {
	return nil, status.Errorf(codes.Unknown, "failed to exec in container: exec: %q: executable file not found in $PATH", command[0])
}

// tell notes that a container was told to stop.
func (r *Runtime) tell(id string) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if c := r.containers[id]; c != nil && c.told.IsZero() {
		c.told = r.clock.Now()
	}
}

// settle has containers end that were told to, whether callers still wait for them or not. The
// caller holds the lock.
func (r *Runtime) settle() {
	for _, c := range r.containers {
		if ends := c.told.Add(c.EndsAfter); !c.told.IsZero() && !r.clock.Now().Before(ends) && c.Status.State == criv1.ContainerState_CONTAINER_RUNNING {
			c.Status.State, c.Status.FinishedAt, c.Status.ExitCode = criv1.ContainerState_CONTAINER_EXITED, ends.UnixNano(), 143
		}
	}
}

// StopContainer waits until the container ends, for the grace period at most, and
// kills it then. If no caller waits any more it is not killed, as with containerd.
func (r *Runtime) StopContainer(ctx context.Context, request *criv1.StopContainerRequest) (*criv1.StopContainerResponse, error) {
	if err := r.enter("StopContainer", request.GetContainerId(), fmt.Sprintf("%ds", request.GetTimeout())); err != nil {
		return nil, err
	}
	c, err := r.container(request.GetContainerId())
	if err != nil {
		return nil, err
	}
	if c.Status.State == criv1.ContainerState_CONTAINER_RUNNING {
		r.tell(request.GetContainerId())
		timer := r.clock.NewTimer(min(c.EndsAfter, time.Duration(request.GetTimeout())*time.Second))
		defer timer.Stop()
		select {
		case <-timer.C():
		case <-ctx.Done():
			return nil, status.FromContextError(ctx.Err()).Err()
		}
		r.End(request.GetContainerId(), 143)
	}
	return &criv1.StopContainerResponse{}, nil
}

// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"context"
	"math"
	"time"

	"k8s.io/apimachinery/pkg/types"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Containers returns the containers that the runtime has of a pod, those that
// have ended included, in any order. See Newest.
func (r *Runtime) Containers(ctx context.Context, pod types.UID) ([]*criv1.Container, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	answer, err := r.containers.ListContainers(ctx, &criv1.ListContainersRequest{
		Filter: &criv1.ContainerFilter{LabelSelector: map[string]string{PodUIDLabel: string(pod)}},
	})
	return answer.GetContainers(), r.failed(err, "list the containers of pod %s", pod)
}

// ContainerStatus returns the status of a container, by its ID without the name
// of the runtime. With verbose it comes with what the runtime tells beyond CRI,
// which differs from runtime to runtime.
func (r *Runtime) ContainerStatus(ctx context.Context, id string, verbose bool) (*criv1.ContainerStatusResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	answer, err := r.containers.ContainerStatus(ctx, &criv1.ContainerStatusRequest{ContainerId: id, Verbose: verbose})
	return answer, r.failed(err, "read the status of container %s", id)
}

// SandboxStatus returns the status of a pod's sandbox, in which its addresses stand.
func (r *Runtime) SandboxStatus(ctx context.Context, id string) (*criv1.PodSandboxStatus, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	answer, err := r.containers.PodSandboxStatus(ctx, &criv1.PodSandboxStatusRequest{PodSandboxId: id})
	return answer.GetStatus(), r.failed(err, "read the status of sandbox %s", id)
}

// Exec runs a command in a container and waits until it ends. The runtime kills
// a command that takes longer than the timeout, rounded up to whole seconds,
// and that is an error. A command that fails is none: see the exit code.
func (r *Runtime) Exec(ctx context.Context, id string, command []string, timeout time.Duration) (*criv1.ExecSyncResponse, error) {
	seconds := int64(math.Ceil(timeout.Seconds()))
	ctx, cancel := context.WithTimeout(ctx, time.Duration(seconds)*time.Second+stopSlack)
	defer cancel()
	answer, err := r.containers.ExecSync(ctx, &criv1.ExecSyncRequest{ContainerId: id, Cmd: command, Timeout: seconds})
	return answer, r.failed(err, "run a command in container %s", id) // whose words may hold secrets
}

// StopContainer stops a container and waits for its end. What has not ended after
// the grace period, rounded up to whole seconds, is killed by the runtime. It is
// no error if the container has ended already or is gone, also if the runtime
// says so only when it is asked again. One that is busy may stop a container and
// answer too late.
func (r *Runtime) StopContainer(ctx context.Context, id string, grace time.Duration) error {
	seconds := int64(math.Ceil(grace.Seconds()))
	waiting, cancel := context.WithTimeout(ctx, time.Duration(seconds)*time.Second+stopSlack)
	defer cancel()
	_, err := r.containers.StopContainer(waiting, &criv1.StopContainerRequest{ContainerId: id, Timeout: seconds})
	if err == nil || NotFound(err) {
		return nil
	}
	if ctx.Err() == nil && !Unavailable(err) && r.ended(ctx, id) {
		return nil
	}
	return r.failed(err, "stop container %s", id)
}

// ended tells whether the runtime says of a container that it has ended, or is gone.
func (r *Runtime) ended(ctx context.Context, id string) bool {
	answer, err := r.ContainerStatus(ctx, id, false)
	return NotFound(err) || err == nil && answer.GetStatus().GetState() == criv1.ContainerState_CONTAINER_EXITED
}

// SPDX-License-Identifier: Apache-2.0

package containermeta

import (
	"context"
	"errors"
	"fmt"
	"time"

	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/podwright/podwright/nodeagent"
)

// execTimeout is how long the command env may take.
const execTimeout = 3 * time.Second

// environment returns the environment that a container was created with. The agent asks
// the runtime for its own record first, which it has of every container in every state. A
// runtime that tells of none is asked to run env in the container.
func (r *reconciler) environment(ctx context.Context, c *criv1.Container) (map[string]string, error) {
	answer, err := r.options.Runtime.ContainerStatus(ctx, c.GetId(), true)
	if err != nil {
		return nil, err
	}
	if env, ok := recordedEnvironment(answer.GetInfo()); ok {
		return env, nil
	}
	if state := c.GetState(); state != criv1.ContainerState_CONTAINER_RUNNING {
		return nil, fmt.Errorf("the runtime tells no environments, and the container, which is in state %s, cannot be asked", state)
	}
	env, err := r.askedEnvironment(ctx, c.GetId())
	if err != nil && !nodeagent.Unavailable(err) {
		err = fmt.Errorf("the runtime tells no environments, and the container does not either: %w", err)
	}
	return env, err
}

// askedEnvironment runs env in a container, with zero bytes between the
// variables if it can do that.
func (r *reconciler) askedEnvironment(ctx context.Context, id string) (map[string]string, error) {
	answer, err := r.options.Runtime.Exec(ctx, id, []string{"env", "-0"}, execTimeout)
	if err != nil {
		return nil, err
	}
	if answer.GetExitCode() == 0 {
		return parseVariables(answer.GetStdout()), nil
	}
	answer, err = r.options.Runtime.Exec(ctx, id, []string{"env"}, execTimeout)
	switch {
	case err != nil:
		return nil, err
	case answer.GetExitCode() != 0:
		return nil, fmt.Errorf("env ended with code %d", answer.GetExitCode())
	case len(answer.GetStdout()) == 0:
		return nil, errors.New("env told nothing")
	}
	return parseLines(answer.GetStdout()), nil
}

// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Unavailable tells of an error whether it came about because the container
// runtime does not answer, as while it is restarted. The call has not been made,
// or was cut short, and can be made again.
func Unavailable(err error) bool { return status.Code(err) == codes.Unavailable }

// NotFound tells of an error whether it came about because the container
// runtime does not know the container, sandbox or image that was asked for.
func NotFound(err error) bool { return status.Code(err) == codes.NotFound }

// failed says of which runtime and of which call an error is, and what to do
// about it. It returns nil for nil.
func (r *Runtime) failed(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	call := fmt.Sprintf(format, args...)
	switch status.Code(err) {
	case codes.Unavailable:
		return fmt.Errorf("container runtime %s does not answer (%s): is it running, and may this process use its socket? %w", r.Endpoint, call, err)
	case codes.DeadlineExceeded:
		return fmt.Errorf("container runtime %s did not answer in time (%s): %w", r.Endpoint, call, err)
	case codes.Unimplemented:
		return fmt.Errorf("container runtime %s cannot %s: it must serve CRI v1, as containerd does since 1.6 and CRI-O since 1.23: %w", r.Endpoint, call, err)
	}
	return fmt.Errorf("container runtime %s: %s: %w", r.Endpoint, call, err)
}

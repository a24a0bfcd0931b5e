// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/podwright/podwright/internal/images"
)

// Unavailable tells of an error whether it came about because the container
// runtime does not answer, as while it is restarted. The call has not been made,
// or was cut short, and can be made again.
func Unavailable(err error) bool { return status.Code(err) == codes.Unavailable }

// NotFound tells of an error whether it came about because the container
// runtime does not know the container, sandbox or image that was asked for.
func NotFound(err error) bool { return status.Code(err) == codes.NotFound }

// failed says of which runtime and of which call an error is, and what to do
// about it. It returns nil for nil. The text is fit to be written into the status of
// an object.
func (r *Runtime) failed(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	call, hint := fmt.Sprintf(format, args...), ""
	switch status.Code(err) {
	case codes.Unavailable:
		hint = fmt.Sprintf("container runtime %s does not answer (%s): is it running, and may this process use its socket?", r.Endpoint, call)
	case codes.DeadlineExceeded:
		hint = fmt.Sprintf("container runtime %s did not answer in time (%s):", r.Endpoint, call)
	case codes.Unimplemented:
		hint = fmt.Sprintf("container runtime %s cannot %s: it must serve CRI v1, as containerd does since 1.6 and CRI-O since 1.23:", r.Endpoint, call)
	default:
		hint = fmt.Sprintf("container runtime %s: %s:", r.Endpoint, call)
	}
	return &runtimeError{hint + " " + images.Cut(images.Redacted(err.Error()), mostText), err}
}

// runtimeError is an error of a runtime in words that can be shown.
type runtimeError struct {
	text string
	err  error
}

func (e *runtimeError) Error() string { return e.text }
func (e *runtimeError) Unwrap() error { return e.err }

// mostText is how many bytes of a runtime's words an error has.
const mostText = 1 << 10

// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/klog/v2"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/nodeagent"
)

// attempt makes one attempt to pull an image, and returns its ID, empty if the runtime
// does not tell. While the runtime or the API server does not answer, the attempt goes on
// until its time is up. A restart of one of them costs none. An error can be shown: it is
// a failure.
func (r *reconciler) attempt(ctx context.Context, s *Start) (imageID string, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	for tries := 1; ; tries++ {
		imageID, err = r.pull(ctx, s)
		if err == nil {
			return imageID, nil
		}
		if ctx.Err() == nil && !transient(err) {
			return "", failureOf("", err, nil)
		}
		if ctx.Err() == nil {
			klog.FromContext(ctx).Info("Trying again", "reason", failureOf("", err, nil).Error())
			timer := r.options.Clock.NewTimer(pause(tries))
			select {
			case <-timer.C():
				continue
			case <-ctx.Done():
				timer.Stop()
			}
		}
		return "", stopped(ctx, s, err)
	}
}

// stopped is the error of an attempt whose context is done. (IMG-3.3)
func stopped(ctx context.Context, s *Start, err error) error {
	what := fmt.Sprintf("pulling image %s:%s is ", s.Image, s.Tag)
	var secret *unreadableSecret
	switch cause := context.Cause(ctx); {
	case !errors.Is(cause, context.DeadlineExceeded):
		err = fmt.Errorf(what+"stopped: %w", cause)
	case errors.As(err, &secret):
		return failureOf("", fmt.Errorf(what+"canceled after %v", s.Timeout), nil).join(failureOf(secret.owner, err, nil))
	case transient(err):
		err = fmt.Errorf(what+"canceled after %v: %w", s.Timeout, err)
	default:
		err = fmt.Errorf(what+"canceled: it has taken longer than %v", s.Timeout)
	}
	return failureOf("", err, nil)
}

// transient tells whether an error goes by itself.
func transient(err error) bool {
	var secret *unreadableSecret
	return nodeagent.Unavailable(err) || errors.As(err, &secret)
}

// pull asks the runtime for an image, with each of the credentials in turn that
// are there for it, or without any. (IMG-3.3)
func (r *reconciler) pull(ctx context.Context, s *Start) (imageID string, err error) {
	credentials, notes, err := r.credentials.lookup(ctx, s)
	if err != nil {
		return "", err
	}
	if len(credentials) == 0 {
		credentials = []credential{{}}
	}
	failed := &failure{}
	for _, c := range credentials {
		_, err := r.options.Runtime.PullImage(ctx, request(s, c.auth))
		if err == nil {
			return r.imageID(ctx, s), nil
		}
		if nodeagent.Unavailable(err) || r.timeIsUp(ctx, err) {
			return "", err
		}
		failed = failed.join(failureOf(c.owner, err, c.auth))
	}
	r.credentials.forget(s.Secrets) // they may have been changed meanwhile
	return "", failed.join(notes...)
}

// timeIsUp tells whether the time of an attempt that has failed is up. The runtime
// is told of the deadline, and may notice it a moment before this process does:
// then the moment is waited for.
func (r *reconciler) timeIsUp(ctx context.Context, err error) bool {
	deadline, _ := ctx.Deadline()
	if status.Code(err) == codes.DeadlineExceeded && deadline.Sub(r.options.Clock.Now()) < time.Second {
		<-ctx.Done()
	}
	return ctx.Err() != nil
}

// request is what the runtime is asked for.
func request(s *Start, auth *criv1.AuthConfig) *criv1.PullImageRequest {
	return &criv1.PullImageRequest{
		Image: &criv1.ImageSpec{Image: s.Reference, UserSpecifiedImage: s.Reference}, Auth: auth, SandboxConfig: sandbox(s.Sandbox),
	}
}

// sandbox hands labels and annotations to the runtime, and nothing else. (IMG-3.3)
func sandbox(config *v1alpha1.SandboxConfig) *criv1.PodSandboxConfig {
	if config == nil {
		return nil
	}
	return &criv1.PodSandboxConfig{Labels: config.Labels, Annotations: config.Annotations}
}

// imageID asks for the ID of an image that has been pulled. It is told for
// information only: that it is not known is no failure.
func (r *reconciler) imageID(ctx context.Context, s *Start) string {
	image, err := r.options.Runtime.Image(ctx, s.Reference)
	if err != nil {
		klog.FromContext(ctx).Error(err, "The ID of the image is not known")
	}
	return image.GetId()
}

// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"context"

	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Images returns the images that the node has.
func (r *Runtime) Images(ctx context.Context) ([]*criv1.Image, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	answer, err := r.images.ListImages(ctx, &criv1.ListImagesRequest{})
	return answer.GetImages(), r.failed(err, "list its images")
}

// Image returns an image by its name, with tag or digest, or by its ID; nil
// if the node does not have it.
func (r *Runtime) Image(ctx context.Context, name string) (*criv1.Image, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	answer, err := r.images.ImageStatus(ctx, &criv1.ImageStatusRequest{Image: &criv1.ImageSpec{Image: name}})
	if NotFound(err) {
		return nil, nil
	}
	return answer.GetImage(), r.failed(err, "look for image %s", name)
}

// PullImage pulls an image and returns the reference by which the runtime knows
// it. It takes as long as the context allows.
func (r *Runtime) PullImage(ctx context.Context, request *criv1.PullImageRequest) (reference string, err error) {
	answer, err := r.images.PullImage(ctx, request)
	return answer.GetImageRef(), r.failed(err, "pull image %s", request.GetImage().GetImage())
}

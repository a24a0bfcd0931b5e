// SPDX-License-Identifier: Apache-2.0

package fakecri

import (
	"cmp"
	"context"
	"slices"

	"google.golang.org/protobuf/proto"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// AddImage has the node have an image, known by its tags, digests and ID.
func (r *Runtime) AddImage(image *criv1.Image) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.images[image.GetId()] = proto.CloneOf(image)
}

// ListImages lists the images by their ID.
func (r *Runtime) ListImages(context.Context, *criv1.ListImagesRequest) (*criv1.ListImagesResponse, error) {
	if err := r.enter("ListImages"); err != nil {
		return nil, err
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	answer := &criv1.ListImagesResponse{}
	for _, image := range r.images {
		answer.Images = append(answer.Images, proto.CloneOf(image))
	}
	slices.SortFunc(answer.Images, func(a, b *criv1.Image) int { return cmp.Compare(a.GetId(), b.GetId()) })
	return answer, nil
}

// ImageStatus returns an image by its ID or one of its names; none if the
// node does not have it.
func (r *Runtime) ImageStatus(_ context.Context, request *criv1.ImageStatusRequest) (*criv1.ImageStatusResponse, error) {
	name := request.GetImage().GetImage()
	if err := r.enter("ImageStatus", name); err != nil {
		return nil, err
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	for id, image := range r.images {
		if id == name || slices.Contains(image.GetRepoTags(), name) || slices.Contains(image.GetRepoDigests(), name) {
			return &criv1.ImageStatusResponse{Image: proto.CloneOf(image)}, nil
		}
	}
	return &criv1.ImageStatusResponse{}, nil
}

// PullImage has the node have an image once Pull lets it.
func (r *Runtime) PullImage(ctx context.Context, request *criv1.PullImageRequest) (*criv1.PullImageResponse, error) {
	name := request.GetImage().GetImage()
	if err := r.enter("PullImage", name); err != nil {
		return nil, err
	}
	if r.Pull != nil {
		if err := r.Pull(ctx, request); err != nil {
			return nil, err
		}
	}
	id := "sha256:" + name
	r.AddImage(&criv1.Image{Id: id, RepoTags: []string{name}})
	return &criv1.PullImageResponse{ImageRef: id}, nil
}

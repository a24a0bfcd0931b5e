package client

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/gentype"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// ImagePullJobInterface reads and writes ImagePullJobs. Its methods do what those
// of client-go's clients do, and return the API server's errors (see
// k8s.io/apimachinery/pkg/api/errors).
type ImagePullJobInterface interface {
	Create(ctx context.Context, imagePullJob *v1alpha1.ImagePullJob, opts metav1.CreateOptions) (*v1alpha1.ImagePullJob, error)
	// Update writes everything but the status.
	Update(ctx context.Context, imagePullJob *v1alpha1.ImagePullJob, opts metav1.UpdateOptions) (*v1alpha1.ImagePullJob, error)
	// UpdateStatus writes nothing but the status.
	UpdateStatus(ctx context.Context, imagePullJob *v1alpha1.ImagePullJob, opts metav1.UpdateOptions) (*v1alpha1.ImagePullJob, error)
	Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error
	DeleteCollection(ctx context.Context, opts metav1.DeleteOptions, listOpts metav1.ListOptions) error
	Get(ctx context.Context, name string, opts metav1.GetOptions) (*v1alpha1.ImagePullJob, error)
	List(ctx context.Context, opts metav1.ListOptions) (*v1alpha1.ImagePullJobList, error)
	Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error)
	// Patch changes an ImagePullJob or one of its subresources ("status").
	// Custom resources take JSON patches, merge patches and server-side apply,
	// but no strategic-merge patches.
	Patch(ctx context.Context, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (*v1alpha1.ImagePullJob, error)
}

// ImagePullJobs gives the client of the ImagePullJobs of a namespace.
func (c *Client) ImagePullJobs(namespace string) ImagePullJobInterface {
	return gentype.NewClientWithList[*v1alpha1.ImagePullJob, *v1alpha1.ImagePullJobList](
		"imagepulljobs", c.v1alpha1, c.v1alpha1.Codec, namespace,
		func() *v1alpha1.ImagePullJob { return &v1alpha1.ImagePullJob{} },
		func() *v1alpha1.ImagePullJobList { return &v1alpha1.ImagePullJobList{} },
	)
}

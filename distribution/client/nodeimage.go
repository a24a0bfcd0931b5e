package client

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/gentype"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// NodeImageInterface reads and writes NodeImages. Its methods do what those
// of client-go's clients do, and return the API server's errors (see
// k8s.io/apimachinery/pkg/api/errors).
type NodeImageInterface interface {
	Create(ctx context.Context, nodeImage *v1alpha1.NodeImage, opts metav1.CreateOptions) (*v1alpha1.NodeImage, error)
	// Update writes everything but the status.
	Update(ctx context.Context, nodeImage *v1alpha1.NodeImage, opts metav1.UpdateOptions) (*v1alpha1.NodeImage, error)
	// UpdateStatus writes nothing but the status.
	UpdateStatus(ctx context.Context, nodeImage *v1alpha1.NodeImage, opts metav1.UpdateOptions) (*v1alpha1.NodeImage, error)
	Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error
	DeleteCollection(ctx context.Context, opts metav1.DeleteOptions, listOpts metav1.ListOptions) error
	Get(ctx context.Context, name string, opts metav1.GetOptions) (*v1alpha1.NodeImage, error)
	List(ctx context.Context, opts metav1.ListOptions) (*v1alpha1.NodeImageList, error)
	Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error)
	// Patch changes a NodeImage or one of its subresources ("status").
	// Custom resources take JSON patches, merge patches and server-side apply,
	// but no strategic-merge patches.
	Patch(ctx context.Context, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (*v1alpha1.NodeImage, error)
}

// NodeImages gives the client of the NodeImages.
func (c *Client) NodeImages() NodeImageInterface {
	return gentype.NewClientWithList[*v1alpha1.NodeImage, *v1alpha1.NodeImageList](
		"nodeimages", c.v1alpha1, c.v1alpha1.Codec, metav1.NamespaceNone,
		func() *v1alpha1.NodeImage { return &v1alpha1.NodeImage{} },
		func() *v1alpha1.NodeImageList { return &v1alpha1.NodeImageList{} },
	)
}

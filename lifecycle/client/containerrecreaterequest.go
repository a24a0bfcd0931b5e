package client

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/gentype"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// ContainerRecreateRequestInterface reads and writes ContainerRecreateRequests.
// Its methods do what those of client-go's clients do, and return the API
// server's errors (see k8s.io/apimachinery/pkg/api/errors).
type ContainerRecreateRequestInterface interface {
	Create(ctx context.Context, request *v1alpha1.ContainerRecreateRequest, opts metav1.CreateOptions) (*v1alpha1.ContainerRecreateRequest, error)
	// Update writes everything but the status. The spec cannot be changed.
	Update(ctx context.Context, request *v1alpha1.ContainerRecreateRequest, opts metav1.UpdateOptions) (*v1alpha1.ContainerRecreateRequest, error)
	// UpdateStatus writes nothing but the status.
	UpdateStatus(ctx context.Context, request *v1alpha1.ContainerRecreateRequest, opts metav1.UpdateOptions) (*v1alpha1.ContainerRecreateRequest, error)
	Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error
	DeleteCollection(ctx context.Context, opts metav1.DeleteOptions, listOpts metav1.ListOptions) error
	Get(ctx context.Context, name string, opts metav1.GetOptions) (*v1alpha1.ContainerRecreateRequest, error)
	List(ctx context.Context, opts metav1.ListOptions) (*v1alpha1.ContainerRecreateRequestList, error)
	Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error)
	// Patch changes a ContainerRecreateRequest or one of its subresources
	// ("status"). Custom resources take JSON patches, merge patches and
	// server-side apply, but no strategic-merge patches.
	Patch(ctx context.Context, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (*v1alpha1.ContainerRecreateRequest, error)
}

// ContainerRecreateRequests gives the client of the ContainerRecreateRequests of
// a namespace.
func (c *Client) ContainerRecreateRequests(namespace string) ContainerRecreateRequestInterface {
	return gentype.NewClientWithList[*v1alpha1.ContainerRecreateRequest, *v1alpha1.ContainerRecreateRequestList](
		"containerrecreaterequests", c.v1alpha1, c.v1alpha1.Codec, namespace,
		func() *v1alpha1.ContainerRecreateRequest { return &v1alpha1.ContainerRecreateRequest{} },
		func() *v1alpha1.ContainerRecreateRequestList { return &v1alpha1.ContainerRecreateRequestList{} },
	)
}

package client

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/gentype"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// CloneSetInterface reads and writes CloneSets. Its methods do what those of
// client-go's clients do, and return the API server's errors (see
// k8s.io/apimachinery/pkg/api/errors).
type CloneSetInterface interface {
	Create(ctx context.Context, cloneSet *v1alpha1.CloneSet, opts metav1.CreateOptions) (*v1alpha1.CloneSet, error)
	// Update writes everything but the status.
	Update(ctx context.Context, cloneSet *v1alpha1.CloneSet, opts metav1.UpdateOptions) (*v1alpha1.CloneSet, error)
	// UpdateStatus writes nothing but the status.
	UpdateStatus(ctx context.Context, cloneSet *v1alpha1.CloneSet, opts metav1.UpdateOptions) (*v1alpha1.CloneSet, error)
	Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error
	DeleteCollection(ctx context.Context, opts metav1.DeleteOptions, listOpts metav1.ListOptions) error
	Get(ctx context.Context, name string, opts metav1.GetOptions) (*v1alpha1.CloneSet, error)
	List(ctx context.Context, opts metav1.ListOptions) (*v1alpha1.CloneSetList, error)
	Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error)
	// Patch changes a CloneSet or one of its subresources ("status", "scale").
	// Custom resources take JSON patches, merge patches and server-side apply,
	// but no strategic-merge patches.
	Patch(ctx context.Context, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (*v1alpha1.CloneSet, error)
}

// CloneSets gives the client of the CloneSets of a namespace.
func (c *Client) CloneSets(namespace string) CloneSetInterface {
	return gentype.NewClientWithList[*v1alpha1.CloneSet, *v1alpha1.CloneSetList](
		"clonesets", c.v1alpha1, c.v1alpha1.Codec, namespace,
		func() *v1alpha1.CloneSet { return &v1alpha1.CloneSet{} },
		func() *v1alpha1.CloneSetList { return &v1alpha1.CloneSetList{} },
	)
}

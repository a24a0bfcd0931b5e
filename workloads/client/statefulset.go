package client

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/gentype"

	"github.com/podwright/podwright/workloads/v1beta1"
)

// StatefulSetInterface reads and writes StatefulSets of apps.kruise.io. Its
// methods do what those of client-go's clients do, and return the API server's
// errors (see k8s.io/apimachinery/pkg/api/errors).
type StatefulSetInterface interface {
	Create(ctx context.Context, statefulSet *v1beta1.StatefulSet, opts metav1.CreateOptions) (*v1beta1.StatefulSet, error)
	// Update writes everything but the status.
	Update(ctx context.Context, statefulSet *v1beta1.StatefulSet, opts metav1.UpdateOptions) (*v1beta1.StatefulSet, error)
	// UpdateStatus writes nothing but the status.
	UpdateStatus(ctx context.Context, statefulSet *v1beta1.StatefulSet, opts metav1.UpdateOptions) (*v1beta1.StatefulSet, error)
	Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error
	DeleteCollection(ctx context.Context, opts metav1.DeleteOptions, listOpts metav1.ListOptions) error
	Get(ctx context.Context, name string, opts metav1.GetOptions) (*v1beta1.StatefulSet, error)
	List(ctx context.Context, opts metav1.ListOptions) (*v1beta1.StatefulSetList, error)
	Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error)
	// Patch changes a StatefulSet or one of its subresources ("status", "scale").
	// Custom resources take JSON patches, merge patches and server-side apply,
	// but no strategic-merge patches.
	Patch(ctx context.Context, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (*v1beta1.StatefulSet, error)
}

// StatefulSets gives the client of the StatefulSets of a namespace.
func (c *Client) StatefulSets(namespace string) StatefulSetInterface {
	return gentype.NewClientWithList[*v1beta1.StatefulSet, *v1beta1.StatefulSetList](
		"statefulsets", c.v1beta1, c.v1beta1.Codec, namespace,
		func() *v1beta1.StatefulSet { return &v1beta1.StatefulSet{} },
		func() *v1beta1.StatefulSetList { return &v1beta1.StatefulSetList{} },
	)
}

// Package fake is a client of the distribution kinds that needs no API server:
// it keeps objects in memory. It is for unit tests.
//
// It does no more than client-go's own fakes: it validates and defaults
// nothing, counts no generations and no resource versions, writes spec and
// status alike whichever method is called, and knows no server-side apply.
package fake

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/gentype"
	"k8s.io/client-go/testing"

	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/typedclient"
)

// Client is a client.Interface that keeps its objects in memory. NewClient
// makes one. The embedded Fake records every call (Actions) and lets a test
// answer calls itself (PrependReactor).
type Client struct {
	testing.Fake
	tracker testing.ObjectTracker
}

var (
	_ client.Interface   = (*Client)(nil)
	_ testing.FakeClient = (*Client)(nil)
)

// NewClient makes a client that holds copies of the given objects. It panics
// where an object is of no distribution kind, or is given twice.
func NewClient(objects ...runtime.Object) *Client {
	c := &Client{}
	c.tracker = typedclient.Serve(&c.Fake, v1alpha1.AddToScheme, objects)
	return c
}

// Tracker is the memory behind the client: a test can change objects there
// without a recorded call.
func (c *Client) Tracker() testing.ObjectTracker { return c.tracker }

// IsWatchListSemanticsUnSupported tells client-go's reflector to list before
// it watches: the object tracker cannot start a watch with what it holds.
func (c *Client) IsWatchListSemanticsUnSupported() bool { return true }

// ImagePullJobs gives the client of the ImagePullJobs of a namespace; the empty
// namespace means all.
func (c *Client) ImagePullJobs(namespace string) client.ImagePullJobInterface {
	return gentype.NewFakeClientWithList[*v1alpha1.ImagePullJob, *v1alpha1.ImagePullJobList](
		&c.Fake, namespace,
		v1alpha1.SchemeGroupVersion.WithResource("imagepulljobs"),
		v1alpha1.SchemeGroupVersion.WithKind("ImagePullJob"),
		func() *v1alpha1.ImagePullJob { return &v1alpha1.ImagePullJob{} },
		func() *v1alpha1.ImagePullJobList { return &v1alpha1.ImagePullJobList{} },
		func(dst, src *v1alpha1.ImagePullJobList) { dst.ListMeta = src.ListMeta },
		func(list *v1alpha1.ImagePullJobList) []*v1alpha1.ImagePullJob {
			return gentype.ToPointerSlice(list.Items)
		},
		func(list *v1alpha1.ImagePullJobList, items []*v1alpha1.ImagePullJob) {
			list.Items = gentype.FromPointerSlice(items)
		},
	)
}

// NodeImages gives the client of the NodeImages, which have no namespace.
func (c *Client) NodeImages() client.NodeImageInterface {
	return gentype.NewFakeClientWithList[*v1alpha1.NodeImage, *v1alpha1.NodeImageList](
		&c.Fake, metav1.NamespaceNone,
		v1alpha1.SchemeGroupVersion.WithResource("nodeimages"),
		v1alpha1.SchemeGroupVersion.WithKind("NodeImage"),
		func() *v1alpha1.NodeImage { return &v1alpha1.NodeImage{} },
		func() *v1alpha1.NodeImageList { return &v1alpha1.NodeImageList{} },
		func(dst, src *v1alpha1.NodeImageList) { dst.ListMeta = src.ListMeta },
		func(list *v1alpha1.NodeImageList) []*v1alpha1.NodeImage {
			return gentype.ToPointerSlice(list.Items)
		},
		func(list *v1alpha1.NodeImageList, items []*v1alpha1.NodeImage) {
			list.Items = gentype.FromPointerSlice(items)
		},
	)
}

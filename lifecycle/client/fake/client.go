// Package fake is a client of the lifecycle kinds that needs no API server:
// it keeps objects in memory. It is for unit tests.
//
// It does no more than client-go's own fakes: it validates and defaults
// nothing, counts no generations and no resource versions, writes spec and
// status alike whichever method is called, and knows no server-side apply.
package fake

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/gentype"
	"k8s.io/client-go/testing"

	"github.com/podwright/podwright/internal/typedclient"
	"github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
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
// where an object is of no lifecycle kind, or is given twice.
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

// ContainerRecreateRequests gives the client of the ContainerRecreateRequests of
// a namespace; the empty namespace means all.
func (c *Client) ContainerRecreateRequests(namespace string) client.ContainerRecreateRequestInterface {
	return gentype.NewFakeClientWithList[*v1alpha1.ContainerRecreateRequest, *v1alpha1.ContainerRecreateRequestList](
		&c.Fake, namespace,
		v1alpha1.SchemeGroupVersion.WithResource("containerrecreaterequests"),
		v1alpha1.SchemeGroupVersion.WithKind("ContainerRecreateRequest"),
		func() *v1alpha1.ContainerRecreateRequest { return &v1alpha1.ContainerRecreateRequest{} },
		func() *v1alpha1.ContainerRecreateRequestList { return &v1alpha1.ContainerRecreateRequestList{} },
		func(dst, src *v1alpha1.ContainerRecreateRequestList) { dst.ListMeta = src.ListMeta },
		func(list *v1alpha1.ContainerRecreateRequestList) []*v1alpha1.ContainerRecreateRequest {
			return gentype.ToPointerSlice(list.Items)
		},
		func(list *v1alpha1.ContainerRecreateRequestList, items []*v1alpha1.ContainerRecreateRequest) {
			list.Items = gentype.FromPointerSlice(items)
		},
	)
}

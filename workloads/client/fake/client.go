// Package fake is a client of the workload kinds that needs no API server: it
// keeps objects in memory. It is for unit tests.
//
// It does no more than client-go's own fakes: it validates and defaults
// nothing, counts no generations and no resource versions, writes spec and
// status alike whichever method is called, and knows no server-side apply.
package fake

import (
	"errors"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/gentype"
	"k8s.io/client-go/testing"

	"github.com/podwright/podwright/internal/typedclient"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
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

// NewClient makes a client that holds copies of the given objects, each in the
// version of its client: StatefulSets are found in v1beta1 only. It panics where
// an object is of no workload kind, or is given twice.
func NewClient(objects ...runtime.Object) *Client {
	c := &Client{}
	c.tracker = typedclient.Serve(&c.Fake, addToScheme, objects)
	return c
}

func addToScheme(scheme *runtime.Scheme) error {
	return errors.Join(v1alpha1.AddToScheme(scheme), v1beta1.AddToScheme(scheme))
}

// Tracker is the memory behind the client: a test can change objects there
// without a recorded call.
func (c *Client) Tracker() testing.ObjectTracker { return c.tracker }

// IsWatchListSemanticsUnSupported tells client-go's reflector to list before
// it watches: the object tracker cannot start a watch with what it holds.
func (c *Client) IsWatchListSemanticsUnSupported() bool { return true }

// CloneSets gives the client of the CloneSets of a namespace; the empty
// namespace means all.
func (c *Client) CloneSets(namespace string) client.CloneSetInterface {
	return gentype.NewFakeClientWithList[*v1alpha1.CloneSet, *v1alpha1.CloneSetList](
		&c.Fake, namespace,
		v1alpha1.SchemeGroupVersion.WithResource("clonesets"),
		v1alpha1.SchemeGroupVersion.WithKind("CloneSet"),
		func() *v1alpha1.CloneSet { return &v1alpha1.CloneSet{} },
		func() *v1alpha1.CloneSetList { return &v1alpha1.CloneSetList{} },
		func(dst, src *v1alpha1.CloneSetList) { dst.ListMeta = src.ListMeta },
		func(list *v1alpha1.CloneSetList) []*v1alpha1.CloneSet { return gentype.ToPointerSlice(list.Items) },
		func(list *v1alpha1.CloneSetList, items []*v1alpha1.CloneSet) {
			list.Items = gentype.FromPointerSlice(items)
		},
	)
}

// StatefulSets gives the client of the StatefulSets of a namespace; the empty
// namespace means all.
func (c *Client) StatefulSets(namespace string) client.StatefulSetInterface {
	return gentype.NewFakeClientWithList[*v1beta1.StatefulSet, *v1beta1.StatefulSetList](
		&c.Fake, namespace,
		v1beta1.SchemeGroupVersion.WithResource("statefulsets"),
		v1beta1.SchemeGroupVersion.WithKind("StatefulSet"),
		func() *v1beta1.StatefulSet { return &v1beta1.StatefulSet{} },
		func() *v1beta1.StatefulSetList { return &v1beta1.StatefulSetList{} },
		func(dst, src *v1beta1.StatefulSetList) { dst.ListMeta = src.ListMeta },
		func(list *v1beta1.StatefulSetList) []*v1beta1.StatefulSet { return gentype.ToPointerSlice(list.Items) },
		func(list *v1beta1.StatefulSetList, items []*v1beta1.StatefulSet) {
			list.Items = gentype.FromPointerSlice(items)
		},
	)
}

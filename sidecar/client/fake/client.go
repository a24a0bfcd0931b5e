// SPDX-License-Identifier: Apache-2.0

// Package fake is a client of the sidecar kinds that needs no API server:
// it keeps objects in memory. It is for unit tests.
//
// It does no more than client-go's own fakes. It validates and defaults nothing, and counts no
// generations and no resource versions. Every method writes spec and status alike.
// What is applied is merged into an object that exists; fields have no owners.
package fake

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/testing"

	"github.com/podwright/podwright/internal/typedclient"
	"github.com/podwright/podwright/sidecar/client"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// Client is a client.Interface that keeps its objects in memory. NewClient
// makes one. The embedded Fake records every call (Actions) and lets a test
// answer calls itself (PrependReactor).
type Client struct {
	*client.Client
	testing.Fake
	tracker testing.ObjectTracker
}

var (
	_ client.Interface   = (*Client)(nil)
	_ testing.FakeClient = (*Client)(nil)
)

// NewClient makes a client that holds copies of the given objects. It panics
// if an object is of no sidecar kind, or is given twice.
func NewClient(objects ...runtime.Object) *Client {
	c := &Client{}
	c.Client = client.NewForBackend(typedclient.InMemory(&c.Fake, kinds))
	c.tracker = typedclient.Serve(&c.Fake, objects, v1alpha1.AddToScheme)
	return c
}

// Tracker is the memory behind the client: a test can change objects there
// without a recorded call.
func (c *Client) Tracker() testing.ObjectTracker { return c.tracker }

// IsWatchListSemanticsUnSupported tells client-go's reflector to list before
// it watches: the object tracker cannot start a watch with what it holds.
func (c *Client) IsWatchListSemanticsUnSupported() bool { return true }

// SPDX-License-Identifier: Apache-2.0

// Package client is the typed client of toys, as an area has one of its kinds.
package client

import (
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/testing/toy/v1alpha1"
	"github.com/podwright/podwright/internal/typedclient"
)

// Interface gives access to the kinds.
type Interface interface {
	// Toys gives the client of the toys of a namespace; the empty one means all namespaces.
	Toys(namespace string) ToyInterface
}

// Client is the Interface that talks to an API server. NewForConfig makes one.
type Client struct{ backend *typedclient.Backend }

// NewForConfig makes a client for the API server that the configuration names.
func NewForConfig(config *rest.Config) (*Client, error) {
	backend, err := typedclient.Connect(config, nil, typedclient.Version{GroupVersion: v1alpha1.SchemeGroupVersion, AddToScheme: v1alpha1.AddToScheme})
	return &Client{backend}, err
}

// ToyInterface reads and writes toys, with the methods of client-go's clients.
type ToyInterface = typedclient.Interface[*v1alpha1.Toy, *v1alpha1.ToyList]

// Toys gives the client of the toys of a namespace.
func (c *Client) Toys(namespace string) ToyInterface {
	return typedclient.New[v1alpha1.Toy, v1alpha1.ToyList](c.backend, v1alpha1.SchemeGroupVersion.WithResource("toys"), namespace)
}

// NewToyInformer makes an informer of the toys of a namespace; the empty one means all namespaces.
func NewToyInformer(c Interface, namespace string, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
	return typedclient.NewInformer(c.Toys(namespace), c, &v1alpha1.Toy{}, resync, indexers)
}

// SPDX-License-Identifier: Apache-2.0

// Package client is the typed client of toys, as an area has one of its kinds.
package client

import (
	"k8s.io/client-go/rest"

	"github.com/podwright/podwright/internal/testing/toy/v1alpha1"
	"github.com/podwright/podwright/internal/typedclient"
)

// Client is the Interface that talks to an API server. NewForConfig makes one.
type Client struct{ backend *typedclient.Backend }

var _ Interface = (*Client)(nil)

// NewForConfig makes a client for the API server that the configuration names.
func NewForConfig(config *rest.Config) (*Client, error) {
	backend, err := typedclient.Connect(config, nil, typedclient.Version{GroupVersion: v1alpha1.SchemeGroupVersion, AddToScheme: v1alpha1.AddToScheme})
	return &Client{backend}, err
}

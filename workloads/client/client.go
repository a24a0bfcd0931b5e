// SPDX-License-Identifier: Apache-2.0

package client

import (
	"net/http"

	"k8s.io/client-go/rest"

	"github.com/podwright/podwright/internal/typedclient"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// Client is the Interface that talks to an API server. NewForConfig and
// NewForConfigAndClient make one; the zero value does not work. It is safe for
// concurrent use.
type Client struct{ backend *typedclient.Backend }

var _ Interface = (*Client)(nil)

// NewForConfig makes a client for the API server that the configuration names.
//
// Address, credentials, user agent and rate limit are the configuration's, with
// client-go's defaults. An empty UserAgent is made from the program's name,
// and QPS 0 means 5 requests per second. A negative QPS means no limit. The limit
// is for the requests of all kinds together. The configuration is not changed.
func NewForConfig(config *rest.Config) (*Client, error) {
	return NewForConfigAndClient(config, nil)
}

// NewForConfigAndClient is NewForConfig with an HTTP client of the caller's,
// so that several API clients share connections. The HTTP client brings its
// own transport: TLS settings, credentials and user agent of the configuration
// are not used. A nil HTTP client stands for one of its own.
func NewForConfigAndClient(config *rest.Config, httpClient *http.Client) (*Client, error) {
	backend, err := typedclient.Connect(config, httpClient,
		typedclient.Version{GroupVersion: v1alpha1.SchemeGroupVersion, AddToScheme: v1alpha1.AddToScheme},
		typedclient.Version{GroupVersion: v1beta1.SchemeGroupVersion, AddToScheme: v1beta1.AddToScheme},
	)
	if err != nil {
		return nil, err
	}
	return NewForBackend(backend), nil
}

// NewForBackend is for the package fake.
func NewForBackend(backend *typedclient.Backend) *Client { return &Client{backend} }

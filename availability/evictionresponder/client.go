// SPDX-License-Identifier: Apache-2.0

package evictionresponder

import (
	"context"
	"net/http"
	"time"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/typedclient"
)

// resource is the name of Evictions in URLs.
const resource = "evictions"

// Served tells whether an API server serves Evictions. Kubernetes 1.37 does so if the feature gate
// EvictionRequestAPI and the version lifecycle.k8s.io/v1alpha1 are switched on. If they are not
// served a Controller would wait for its cache forever: do not run one there. An error says that
// it could not be found out. (EVR-12)
func Served(d discovery.ServerResourcesInterface) (bool, error) {
	return typedclient.Served(context.Background(), d, SchemeGroupVersion.WithResource(resource))
}

// Client reads Evictions and patches their status. NewClient makes one; the zero value does not
// work. It is safe for concurrent use.
type Client struct{ backend *typedclient.Backend }

// NewClient makes a client for the API server that the configuration names. Address, credentials,
// user agent and rate limit are the configuration's, with client-go's defaults. A nil HTTP client
// stands for one of its own; another one brings its own transport.
func NewClient(config *rest.Config, httpClient *http.Client) (*Client, error) {
	backend, err := typedclient.Connect(config, httpClient, typedclient.Version{GroupVersion: SchemeGroupVersion, AddToScheme: addToScheme})
	if err != nil {
		return nil, err
	}
	return &Client{backend}, nil
}

// EvictionInterface has the methods of client-go's clients.
type EvictionInterface = typedclient.Interface[*Eviction, *EvictionList]

// Evictions gives the client of the Evictions of a namespace. The empty namespace means all
// namespaces, for which only List and Watch work.
func (c *Client) Evictions(namespace string) EvictionInterface {
	return typedclient.New[Eviction, EvictionList](c.backend, SchemeGroupVersion.WithResource(resource), namespace)
}

// NewEvictionInformer makes an informer of the Evictions of a namespace; the empty one means all
// namespaces. The caller starts it. Every resync period (0: never) it reports all objects to its
// handlers again. The indexers may be nil.
func NewEvictionInformer(c *Client, namespace string, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
	return typedclient.NewInformer(c.Evictions(namespace), c, &Eviction{}, resync, indexers)
}

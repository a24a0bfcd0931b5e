// SPDX-License-Identifier: Apache-2.0

package typedclient

import (
	"cmp"
	"fmt"
	"net/http"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
)

// Backend is what clients read and write: an API server, or memory. It may be
// used by many goroutines.
type Backend struct {
	versions map[schema.GroupVersion]connection
	// memory makes a client of a resource that keeps its objects in memory; nil: there is an API server. Programs that use no fake
	// do not link it.
	memory func(resource schema.GroupVersionResource, namespace string) any
}

// connection talks to the API server about the kinds of one group and version.
type connection struct {
	rest.Interface
	codec runtime.ParameterCodec // writes the options of a request into its URL
}

// connected returns what talks about a resource. It panics if its version is not connected to.
func (b *Backend) connected(resource schema.GroupVersionResource) connection {
	c, connected := b.versions[resource.GroupVersion()]
	if !connected {
		panic("no connection for " + resource.String())
	}
	return c
}

// Version is a group and version, and what registers its kinds.
type Version struct {
	schema.GroupVersion
	AddToScheme func(*runtime.Scheme) error
}

// Connect makes clients of the API server that the configuration names. Objects
// travel as JSON, whatever content type the configuration asks for. The rate limit
// is for all versions together: QPS 0 means 5 requests per second, and a negative
// one no limit. A nil HTTP client stands for one made from the configuration;
// another one brings its own transport. The configuration is not changed.
func Connect(config *rest.Config, httpClient *http.Client, versions ...Version) (*Backend, error) {
	config = rest.CopyConfig(config)
	config.UserAgent = cmp.Or(config.UserAgent, rest.DefaultKubernetesUserAgent())
	if config.RateLimiter == nil && config.QPS >= 0 {
		qps, burst := cmp.Or(config.QPS, rest.DefaultQPS), cmp.Or(config.Burst, rest.DefaultBurst)
		config.RateLimiter = flowcontrol.NewTokenBucketRateLimiter(qps, burst)
	}
	if httpClient == nil {
		var err error
		if httpClient, err = rest.HTTPClientFor(config); err != nil {
			return nil, fmt.Errorf("making an HTTP client: %w", err)
		}
	}
	b := &Backend{versions: map[schema.GroupVersion]connection{}}
	for _, version := range versions {
		c, err := connect(rest.CopyConfig(config), httpClient, version)
		if err != nil {
			return nil, err
		}
		b.versions[version.GroupVersion] = c
	}
	return b, nil
}

// connect may change the configuration.
func connect(config *rest.Config, httpClient *http.Client, version Version) (connection, error) {
	scheme := runtime.NewScheme()
	if err := version.AddToScheme(scheme); err != nil {
		return connection{}, fmt.Errorf("registering the kinds of %s: %w", version.GroupVersion, err)
	}
	if err := autoscalingv1.AddToScheme(scheme); err != nil {
		return connection{}, fmt.Errorf("registering scales: %w", err)
	}
	config.APIPath = "/apis"
	config.GroupVersion = &version.GroupVersion
	config.NegotiatedSerializer = tame{serializer.NewCodecFactory(scheme).WithoutConversion()}
	config.ContentType = runtime.ContentTypeJSON
	config.AcceptContentTypes = runtime.ContentTypeJSON
	client, err := rest.RESTClientForConfigAndClient(config, httpClient)
	if err != nil {
		return connection{}, fmt.Errorf("making a REST client for %s: %w", version.GroupVersion, err)
	}
	return connection{Interface: client, codec: runtime.NewParameterCodec(scheme)}, nil
}

package client

import (
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Interface gives access to the workload kinds.
type Interface interface {
	// CloneSets gives the client of the CloneSets of a namespace. The empty
	// namespace means all namespaces, where only List and Watch work.
	CloneSets(namespace string) CloneSetInterface
}

// Client is the Interface that talks to an API server. NewForConfig and
// NewForConfigAndClient make one; the zero value does not work. It is safe for
// concurrent use.
type Client struct {
	v1alpha1 rest.Interface
	codec    runtime.ParameterCodec
}

var _ Interface = (*Client)(nil)

// NewForConfig makes a client for the API server that the configuration names.
//
// Address, credentials, user agent and rate limit are the configuration's, with
// client-go's defaults: an empty UserAgent is made from the program's name,
// and QPS 0 means 5 requests per second; a negative QPS means no limit. The
// configuration is not changed.
func NewForConfig(config *rest.Config) (*Client, error) {
	httpClient, err := rest.HTTPClientFor(withUserAgent(config))
	if err != nil {
		return nil, fmt.Errorf("making an HTTP client for the workload kinds: %w", err)
	}
	return NewForConfigAndClient(config, httpClient)
}

// NewForConfigAndClient is NewForConfig with an HTTP client of the caller's,
// so that several API clients share connections. The HTTP client brings its
// own transport: TLS settings, credentials and user agent of the configuration
// are not used.
func NewForConfigAndClient(config *rest.Config, httpClient *http.Client) (*Client, error) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("registering the workload kinds: %w", err)
	}
	config = withUserAgent(config)
	config.APIPath = "/apis"
	config.GroupVersion = &v1alpha1.SchemeGroupVersion
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	config.ContentType = runtime.ContentTypeJSON
	config.AcceptContentTypes = runtime.ContentTypeJSON
	restClient, err := rest.RESTClientForConfigAndClient(config, httpClient)
	if err != nil {
		return nil, fmt.Errorf("making a REST client for %s: %w", v1alpha1.SchemeGroupVersion, err)
	}
	return &Client{v1alpha1: restClient, codec: runtime.NewParameterCodec(scheme)}, nil
}

// withUserAgent copies a configuration and fills in the user agent.
func withUserAgent(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	if config.UserAgent == "" {
		config.UserAgent = rest.DefaultKubernetesUserAgent()
	}
	return config
}

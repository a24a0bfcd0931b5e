// Package typedclient holds what the typed clients of all areas share: how they
// talk to the API server, and how their informers follow it.
package typedclient

import (
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
)

// REST talks to the API server about the kinds of one group and version.
type REST struct {
	rest.Interface
	// Codec writes the options of a request into its URL.
	Codec runtime.ParameterCodec
}

// NewREST makes a client of the kinds that addToScheme registers. They travel
// as JSON, whatever content type the configuration asks for. A nil httpClient
// stands for one made from the configuration; another one brings its own
// transport. The configuration is not changed.
func NewREST(
	config *rest.Config, httpClient *http.Client,
	version schema.GroupVersion, addToScheme func(*runtime.Scheme) error,
) (*REST, error) {
	scheme := runtime.NewScheme()
	if err := addToScheme(scheme); err != nil {
		return nil, fmt.Errorf("registering the kinds of %s: %w", version, err)
	}
	config = rest.CopyConfig(config)
	if config.UserAgent == "" {
		config.UserAgent = rest.DefaultKubernetesUserAgent()
	}
	if httpClient == nil {
		var err error
		if httpClient, err = rest.HTTPClientFor(config); err != nil {
			return nil, fmt.Errorf("making an HTTP client for %s: %w", version, err)
		}
	}
	config.APIPath = "/apis"
	config.GroupVersion = &version
	config.NegotiatedSerializer = tame{serializer.NewCodecFactory(scheme).WithoutConversion()}
	config.ContentType = runtime.ContentTypeJSON
	config.AcceptContentTypes = runtime.ContentTypeJSON
	client, err := rest.RESTClientForConfigAndClient(config, httpClient)
	if err != nil {
		return nil, fmt.Errorf("making a REST client for %s: %w", version, err)
	}
	return &REST{Interface: client, Codec: runtime.NewParameterCodec(scheme)}, nil
}

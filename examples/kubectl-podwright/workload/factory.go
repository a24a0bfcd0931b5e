// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"net/http"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/rest"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/scheme"
)

// Factory is what kubectl's commands get their clients from. It makes them know the kinds: what its builders read are
// Objects, and its clients patch them.
type Factory struct {
	cmdutil.Factory
	// Local says that a command asks no API server.
	Local  bool
	getter genericclioptions.RESTClientGetter
}

// NewFactory returns a factory over the flags of a command line.
func NewFactory(getter genericclioptions.RESTClientGetter) *Factory {
	getter = patching{getter}
	return &Factory{Factory: cmdutil.NewFactory(getter), getter: getter}
}

// NewBuilder returns a builder after kubectl's scheme has learned the kinds in the versions of this API server.
func (f *Factory) NewBuilder() *resource.Builder {
	var mapper meta.RESTMapper
	if !f.Local {
		mapper, _ = f.getter.ToRESTMapper() // the builder returns the error
	}
	Register(scheme.Scheme, mapper)
	return f.Factory.NewBuilder()
}

// patching is a getter whose clients patch by strategic merge.
type patching struct {
	genericclioptions.RESTClientGetter
}

// ToRESTConfig returns a configuration with the PatchTransport.
func (g patching) ToRESTConfig() (*rest.Config, error) {
	config, err := g.RESTClientGetter.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return PatchTransport(next) })
	return config, nil
}

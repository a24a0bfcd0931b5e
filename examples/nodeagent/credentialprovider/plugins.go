// SPDX-License-Identifier: Apache-2.0

// Package credentialprovider gets credentials for images from the plugins that the
// kubelet has for that. These are programs that know the registry of the cloud
// that the node runs in. They speak credentialprovider.kubelet.k8s.io/v1 on their
// standard input and output; their configuration is the file of the kubelet's flag
// --image-credential-provider-config.
//
// Credentials of the node count for every image that is pulled ahead, whichever job asks
// for it. They also count for the pods of the node. Plugins that want the token of a
// pod's ServiceAccount are left out, since there is no pod. If the token is optional
// they are asked without it.
package credentialprovider

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"
	configv1 "k8s.io/kubelet/config/v1"
	credentialsv1 "k8s.io/kubelet/pkg/apis/credentialprovider/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/nodeagent/image"
)

const (
	// patience is how long a plugin may take, as long as the kubelet gives it.
	patience = time.Minute
	// mostAnswer is the size in bytes of the largest answer.
	mostAnswer = 1 << 20
)

// Plugins are the plugins of a node. Load makes them. They are safe for use by
// several goroutines.
type Plugins struct{ all []*plugin }

var _ image.Credentials = (*Plugins)(nil)

// Load reads the configuration of plugins, a CredentialProviderConfig of
// kubelet.config.k8s.io/v1 in YAML or JSON, and looks for the plugins in a folder.
func Load(config, folder string) (*Plugins, error) {
	data, err := os.ReadFile(config)
	if err != nil {
		return nil, fmt.Errorf("read the configuration of credential provider plugins: %w", err)
	}
	var c configv1.CredentialProviderConfig
	if err := yaml.UnmarshalStrict(data, &c); err != nil {
		return nil, fmt.Errorf("file %s: want a CredentialProviderConfig: %w", config, err)
	}
	if want := configv1.SchemeGroupVersion.String(); c.APIVersion != want || c.Kind != "CredentialProviderConfig" {
		return nil, fmt.Errorf("file %s: found the kind %s of %s, want CredentialProviderConfig of %s", config, c.Kind, c.APIVersion, want)
	}
	p := &Plugins{}
	for _, provider := range c.Providers {
		one, err := newPlugin(provider, folder)
		if err != nil {
			return nil, fmt.Errorf("file %s: plugin %q: %w", config, provider.Name, err)
		}
		if t := provider.TokenAttributes; t == nil || t.RequireServiceAccount == nil || !*t.RequireServiceAccount {
			p.all = append(p.all, one)
		}
	}
	return p, nil
}

// Credentials implements image.Credentials. It asks every plugin that is for the image,
// all at once.
func (p *Plugins) Credentials(ctx context.Context, of string) (auths []*criv1.AuthConfig, err error) {
	found, errs := make([][]*criv1.AuthConfig, len(p.all)), make([]error, len(p.all))
	var asking sync.WaitGroup
	for i, one := range p.all {
		if !slices.ContainsFunc(one.MatchImages, func(pattern string) bool { return image.MatchesRegistry(pattern, of) }) {
			continue
		}
		asking.Go(func() {
			if found[i], errs[i] = one.credentials(ctx, of); errs[i] != nil {
				errs[i] = fmt.Errorf("credential provider %s: %w", one.Name, errs[i])
			}
		})
	}
	asking.Wait()
	return slices.Concat(found...), errors.Join(errs...)
}

type plugin struct {
	configv1.CredentialProvider
	path  string
	clock clock.PassiveClock

	running singleflight.Group // by image: who wants the same waits for it, and no other caller
	lock    sync.Mutex
	known   map[string]answer
}

type answer struct {
	auths map[string]credentialsv1.AuthConfig
	until time.Time
}

func newPlugin(provider configv1.CredentialProvider, folder string) (*plugin, error) {
	p := &plugin{CredentialProvider: provider, path: filepath.Join(folder, provider.Name), clock: clock.RealClock{}, known: map[string]answer{}}
	switch want := credentialsv1.SchemeGroupVersion.String(); {
	case provider.Name == "" || provider.Name == "." || provider.Name == ".." || strings.ContainsAny(provider.Name, `/\ `):
		return nil, errors.New("name: want that of a file in the folder")
	case provider.APIVersion != want:
		return nil, fmt.Errorf("apiVersion: found %q, want %s", provider.APIVersion, want)
	case len(provider.MatchImages) == 0:
		return nil, errors.New("matchImages: is empty, want the registries for which it has credentials")
	}
	if _, err := exec.LookPath(p.path); err != nil {
		return nil, err
	}
	return p, nil
}

// credentials returns those for an image, for the longest pattern first.
func (p *plugin) credentials(ctx context.Context, of string) (auths []*criv1.AuthConfig, err error) {
	found, err := p.ask(ctx, of)
	if err != nil {
		return nil, err
	}
	patterns := slices.SortedFunc(maps.Keys(found), func(a, b string) int {
		return cmp.Or(cmp.Compare(strings.Count(a, "*"), strings.Count(b, "*")), cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	})
	for _, pattern := range patterns {
		if image.MatchesRegistry(pattern, of) {
			auths = append(auths, &criv1.AuthConfig{Username: found[pattern].Username, Password: found[pattern].Password})
		}
	}
	return auths, nil
}

// ask returns what the plugin answered, now or before.
func (p *plugin) ask(ctx context.Context, of string) (map[string]credentialsv1.AuthConfig, error) {
	if known, found := p.remembered(of); found {
		return known, nil
	}
	// It does not end with the one who has asked first: others may wait for it, too.
	asked := p.running.DoChan(of, func() (any, error) {
		if known, found := p.remembered(of); found {
			return known, nil // since it was looked
		}
		response, err := p.run(context.WithoutCancel(ctx), of)
		if err != nil {
			return nil, err
		}
		return response.Auth, p.remember(of, response)
	})
	select {
	case result := <-asked:
		if result.Err != nil {
			return nil, result.Err
		}
		return result.Val.(map[string]credentialsv1.AuthConfig), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// remembered returns an answer that is still good.
func (p *plugin) remembered(of string) (map[string]credentialsv1.AuthConfig, bool) {
	p.lock.Lock()
	defer p.lock.Unlock()
	maps.DeleteFunc(p.known, func(_ string, a answer) bool { return !a.until.After(p.clock.Now()) })
	for _, key := range keysOf(of) {
		if known, found := p.known[key]; found {
			return known.auths, true
		}
	}
	return nil, false
}

// remember remembers an answer until it expires.
func (p *plugin) remember(of string, response *credentialsv1.CredentialProviderResponse) error {
	keys := keysOf(of)
	key, known := map[credentialsv1.PluginCacheKeyType]string{
		credentialsv1.ImagePluginCacheKeyType: keys[0], credentialsv1.RegistryPluginCacheKeyType: keys[1], credentialsv1.GlobalPluginCacheKeyType: keys[2],
	}[response.CacheKeyType]
	if !known {
		return fmt.Errorf("answered cacheKeyType %q, want Image, Registry or Global", response.CacheKeyType)
	}
	if d := cmp.Or(response.CacheDuration, p.DefaultCacheDuration); d != nil && d.Duration > 0 {
		p.lock.Lock()
		defer p.lock.Unlock()
		p.known[key] = answer{response.Auth, p.clock.Now().Add(d.Duration)}
	}
	return nil
}

// keysOf returns the keys under which an answer may be remembered: of the image
// without its version, of its registry, and of all images.
func keysOf(of string) []string {
	name, _, _ := strings.Cut(of, "@")
	if colon := strings.LastIndexByte(name, ':'); colon > strings.LastIndexByte(name, '/') {
		name = name[:colon]
	}
	registry, _, _ := strings.Cut(name, "/")
	return []string{"image " + name, "registry " + registry, "global"}
}

// run runs the plugin. What it says on its standard error is not shown: it may hold anything.
func (p *plugin) run(ctx context.Context, of string) (*credentialsv1.CredentialProviderResponse, error) {
	version := metav1.TypeMeta{APIVersion: credentialsv1.SchemeGroupVersion.String()}
	request := credentialsv1.CredentialProviderRequest{TypeMeta: version, Image: of}
	request.Kind = "CredentialProviderRequest"
	input, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	command := exec.CommandContext(ctx, p.path, p.Args...)
	command.WaitDelay = time.Second
	command.Env = os.Environ()
	for _, e := range p.Env {
		command.Env = append(command.Env, e.Name+"="+e.Value)
	}
	output := &limited{}
	command.Stdin, command.Stdout = bytes.NewReader(input), output
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("run it: %w", cmp.Or(context.Cause(ctx), err))
	}
	if len(output.data) > mostAnswer {
		return nil, fmt.Errorf("its answer has more than %d bytes", mostAnswer)
	}
	response := &credentialsv1.CredentialProviderResponse{}
	if json.Unmarshal(output.data, response) != nil {
		return nil, errors.New("its answer is no CredentialProviderResponse in JSON")
	}
	if response.APIVersion != version.APIVersion || response.Kind != "CredentialProviderResponse" {
		return nil, fmt.Errorf("answered the kind %q of %q, want CredentialProviderResponse of %s", response.Kind, response.APIVersion, version.APIVersion)
	}
	return response, nil
}

// limited takes what an answer may have, and a byte to tell that there was more.
type limited struct{ data []byte }

func (l *limited) Write(data []byte) (int, error) {
	l.data = append(l.data, data[:min(len(data), mostAnswer+1-len(l.data))]...)
	return len(data), nil
}

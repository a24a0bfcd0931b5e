// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"

	"github.com/distribution/reference"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
)

// Registry serves images on loopback. Its methods may be called from several goroutines and while images are pulled.
type Registry struct {
	listener net.Listener
	server   *http.Server
	// store serves images as HOST/NAME.
	store http.Handler

	mu         sync.Mutex
	behaviours map[string]Behaviour
	pulls      map[string]int
	waiting    map[string]int
}

// Start starts an empty registry on a free port of 127.0.0.1.
func Start() (*Registry, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start a registry: %w", err)
	}
	r := &Registry{
		listener:   listener,
		store:      registry.New(registry.Logger(log.New(io.Discard, "", 0))),
		behaviours: map[string]Behaviour{},
		pulls:      map[string]int{},
		waiting:    map[string]int{},
	}
	r.server = &http.Server{Handler: r}
	go func() { _ = r.server.Serve(listener) }()
	return r, nil
}

// Address returns the address of the registry: "127.0.0.1:PORT".
func (r *Registry) Address() string { return r.listener.Addr().String() }

// Close ends the registry and the requests that it holds.
func (r *Registry) Close() error { return r.server.Close() }

// Add makes an image and serves it by its name, as "registry.test/app:v1". A name without a tag has the tag latest, and
// one without a host that of docker.io. An image that had the name before stays by its digest. Add returns the name with
// the digest, "registry.test/app@sha256:…", by which pods may ask too.
func (r *Registry) Add(name string, image Image) (byDigest string, err error) {
	named, tag, err := parse(name)
	if err != nil {
		return "", err
	}
	c, err := image.build()
	if err != nil {
		return "", fmt.Errorf("image %s: %w", name, err)
	}
	for digest, data := range c.blobs {
		if err := r.write(http.MethodPost, named, "blobs/uploads/", "digest="+digest.String(), "", data); err != nil {
			return "", fmt.Errorf("image %s: %w", name, err)
		}
	}
	if err := r.write(http.MethodPut, named, "manifests/"+tag, "", v1.MediaTypeImageManifest, c.blobs[c.manifest]); err != nil {
		return "", fmt.Errorf("image %s: %w", name, err)
	}
	return named.Name() + "@" + c.manifest.String(), nil
}

// Remove takes a name away: a node that asks for it hears that there is no such image. What was pulled stays with the nodes.
func (r *Registry) Remove(name string) error {
	named, tag, err := parse(name)
	if err != nil {
		return err
	}
	if err := r.write(http.MethodDelete, named, "manifests/"+tag, "", "", nil); err != nil {
		return fmt.Errorf("image name %q: there is no such image: %w", name, err)
	}
	return nil
}

// write asks the store to change something of an image.
func (r *Registry) write(method string, of reference.Named, path, query, contentType string, data []byte) error {
	request, err := http.NewRequest(method, "http://"+r.Address()+"/v2/"+reference.Path(of)+"/"+path+"?ns="+reference.Domain(of)+"&"+query, bytes.NewReader(data))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", contentType)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode >= 300 {
		return errors.New(response.Status)
	}
	return nil
}

// ServeHTTP answers what the OCI distribution specification asks of a registry. The parameter ns is the
// host that the image's name has: a container runtime sets it when it asks another one.
func (r *Registry) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	host := cmp.Or(request.URL.Query().Get("ns"), request.Host)
	path, found := strings.CutPrefix(request.URL.Path, "/v2/")
	if found && path != "" {
		request = request.Clone(request.Context())
		request.URL.Path = "/v2/" + host + "/" + path
	}
	at := strings.LastIndex(path, "/manifests/")
	if at < 0 || request.Method != http.MethodGet && request.Method != http.MethodHead {
		r.store.ServeHTTP(w, request)
		return
	}
	key, which := host+"/"+path[:at], path[at+len("/manifests/"):]
	if strings.Contains(which, ":") {
		key += "@" + which
	} else {
		key += ":" + which
	}
	if r.act(key, w, request) {
		r.store.ServeHTTP(&counter{w, r, key, request.Method == http.MethodHead}, request)
	}
}

// counter counts an answer that an image is there.
type counter struct {
	http.ResponseWriter
	registry *Registry
	key      string
	counts   bool
}

func (c *counter) WriteHeader(status int) {
	if c.counts && status == http.StatusOK {
		c.registry.mu.Lock()
		c.registry.pulls[c.key]++
		c.registry.mu.Unlock()
	}
	c.ResponseWriter.WriteHeader(status)
}

// Pulls returns how often a node has asked for an image by this name, and was answered that it is there. A node that has
// the image already asks too if the pull policy is Always, but downloads nothing.
func (r *Registry) Pulls(name string) int {
	key, err := keyOf(name)
	if err != nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pulls[key]
}

// Waiting returns how many requests for an image by this name have no answer yet, because of Hold or of a Delay. One that its
// node has given up does not count any more.
func (r *Registry) Waiting(name string) int {
	key, err := keyOf(name)
	if err != nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.waiting[key]
}

var errNoName = errors.New("want a name as pods have it, like registry.test/app:v1, and no digest: that comes of what is in the image")

// parse returns the name and the tag of an image.
func parse(name string) (reference.Named, string, error) {
	named, err := reference.ParseNormalizedNamed(name)
	if err != nil {
		return nil, "", fmt.Errorf("image name %q: %w: %w", name, err, errNoName)
	}
	tagged, ok := reference.TagNameOnly(named).(reference.Tagged)
	if !ok {
		return nil, "", fmt.Errorf("image name %q: %w", name, errNoName)
	}
	return named, tagged.Tag(), nil
}

// keyOf returns the one spelling of an image's name, with its tag or digest.
func keyOf(name string) (string, error) {
	named, err := reference.ParseNormalizedNamed(name)
	if err != nil {
		return "", fmt.Errorf("image name %q: %w", name, err)
	}
	return reference.TagNameOnly(named).String(), nil
}

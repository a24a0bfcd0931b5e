package registry

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"

	"github.com/distribution/reference"
	"github.com/opencontainers/go-digest"
)

// Registry serves images on loopback. Its methods may be called from several goroutines and while images are pulled.
type Registry struct {
	listener net.Listener
	server   *http.Server

	mu           sync.Mutex
	repositories map[string]*repository
	behaviours   map[string]Behaviour
	pulls        map[string]int
	waiting      map[string]int
}

// repository holds the images of one name.
type repository struct {
	tags  map[string]digest.Digest
	blobs map[digest.Digest][]byte
	// manifests are those blobs that are manifests.
	manifests map[digest.Digest]bool
}

// Start starts an empty registry on a free port of 127.0.0.1.
func Start() (*Registry, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start a registry: %w", err)
	}
	r := &Registry{
		listener:     listener,
		repositories: map[string]*repository{},
		behaviours:   map[string]Behaviour{},
		pulls:        map[string]int{},
		waiting:      map[string]int{},
	}
	r.server = &http.Server{Handler: r}
	go func() { _ = r.server.Serve(listener) }()
	return r, nil
}

// Address returns where the registry listens: "127.0.0.1:PORT".
func (r *Registry) Address() string { return r.listener.Addr().String() }

// Close ends the registry and the requests that it holds.
func (r *Registry) Close() error { return r.server.Close() }

// Add makes an image and serves it by its name, as "registry.test/app:v1"; a name without a tag has the tag latest, and one
// without a host that of docker.io. An image that had the name before stays by its digest. Add returns the name with
// the digest, "registry.test/app@sha256:…", by which pods may ask too.
func (r *Registry) Add(name string, image Image) (byDigest string, err error) {
	named, err := parse(name)
	if err != nil {
		return "", err
	}
	tagged, ok := reference.TagNameOnly(named).(reference.Tagged)
	if !ok {
		return "", fmt.Errorf("image name %q: want a tag, and no digest: that comes of what is in the image", name)
	}
	c, err := image.build()
	if err != nil {
		return "", fmt.Errorf("image %s: %w", name, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	to := r.repositories[named.Name()]
	if to == nil {
		to = &repository{tags: map[string]digest.Digest{}, blobs: map[digest.Digest][]byte{}, manifests: map[digest.Digest]bool{}}
		r.repositories[named.Name()] = to
	}
	to.tags[tagged.Tag()] = c.manifest
	maps.Copy(to.blobs, c.blobs)
	to.manifests[c.manifest] = true
	return named.Name() + "@" + c.manifest.String(), nil
}

// Remove takes a name away: whoever asks for it hears that there is no such image. What was pulled stays with the nodes.
func (r *Registry) Remove(name string) error {
	named, err := parse(name)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	from := r.repositories[named.Name()]
	tagged, ok := reference.TagNameOnly(named).(reference.Tagged)
	if from == nil || !ok || from.tags[tagged.Tag()] == "" {
		return fmt.Errorf("image name %q: there is no such image; there are %q", name, r.names())
	}
	delete(from.tags, tagged.Tag())
	return nil
}

// Pulls returns how often a node has asked for an image by this name, and was answered that it is there. A node that has
// the image already asks too where the pull policy is Always, but downloads nothing.
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

// names returns the names of all images; call it with the lock held.
func (r *Registry) names() []string {
	var all []string
	for name, repository := range r.repositories {
		for tag := range repository.tags {
			all = append(all, name+":"+tag)
		}
	}
	slices.Sort(all)
	return all
}

var errNoName = errors.New("want a name as pods have it, like registry.test/app:v1")

func parse(name string) (reference.Named, error) {
	named, err := reference.ParseNormalizedNamed(name)
	if err != nil {
		return nil, fmt.Errorf("image name %q: %w: %w", name, err, errNoName)
	}
	return named, nil
}

// keyOf returns the one spelling of an image's name, with its tag or digest.
func keyOf(name string) (string, error) {
	named, err := parse(name)
	if err != nil {
		return "", err
	}
	return reference.TagNameOnly(named).String(), nil
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

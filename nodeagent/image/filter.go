// SPDX-License-Identifier: Apache-2.0

package image

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/podwright/podwright/internal/images"
)

// Filter says what may be pulled to a node. Its zero value lets all pass. A task
// that does not pass has failed, also if the node has the image. (IMG-3.10)
type Filter struct {
	// Namespaces are those whose tasks are pulled, with wildcards as path.Match
	// has them: "team-*". A task that several namespaces own passes by one of them,
	// and uses the secrets of those that pass. One that no namespace owns does not pass.
	// Default: all.
	Namespaces []string
	// Registries are those from which images are pulled. Each is a host with its port, in which
	// labels may have wildcards. It may have a path, for what is at the path or below. Examples
	// are "*.example.com", "quay.io/team", and "docker.io" for Docker Hub. Default: all.
	Registries []string
}

// Validate returns what is wrong with a filter, nil if nothing is.
func (f Filter) Validate() error {
	for _, namespace := range f.Namespaces {
		if _, err := path.Match(namespace, ""); err != nil || namespace == "" {
			return fmt.Errorf("Filter.Namespaces: found %q, want the name of a namespace, which may have wildcards", namespace)
		}
	}
	for _, registry := range f.Registries {
		host, _ := splitRegistry(registry)
		if _, err := path.Match(host, ""); err != nil || host == "" {
			return fmt.Errorf("Filter.Registries: found %q, want the host of a registry, such as *.example.com, and perhaps a path behind it", registry)
		}
	}
	return nil
}

// passing returns those of the owners of a task that pass; nil for nil if all do.
func (f Filter) passing(owners []string) []string {
	if f.Namespaces == nil {
		return owners
	}
	passing := []string{}
	for _, owner := range owners {
		if slices.ContainsFunc(f.Namespaces, func(pattern string) bool { ok, err := path.Match(pattern, owner); return ok && err == nil }) {
			passing = append(passing, owner)
		}
	}
	return passing
}

// refuses says why a task does not pass; empty if it does.
func (f Filter) refuses(t *task) string {
	owners := owningNamespaces(t.spec.OwnerReferences)
	if f.Namespaces != nil && len(f.passing(owners)) == 0 {
		return fmt.Sprintf("this node pulls no images for the namespaces that ask for it: %s", strings.Join(owners, ", "))
	}
	image, err := images.ParseReference(reference(t.Task))
	if f.Registries == nil || err != nil {
		return "" // what cannot be parsed has failed anyway
	}
	for _, registry := range f.Registries {
		if matchesRegistry(registry, image) {
			return ""
		}
	}
	return fmt.Sprintf("this node pulls no images from %s/%s", image.Domain, image.Path)
}

// MatchesRegistry tells whether an image is from a registry, or a part of one, as
// Filter.Registries names them. An image that cannot be parsed is from none.
func MatchesRegistry(registry, image string) bool {
	parsed, err := images.ParseReference(image)
	return err == nil && matchesRegistry(registry, parsed)
}

func matchesRegistry(registry string, image images.Reference) bool {
	host, path := splitRegistry(registry)
	return image.Domain != "" && hostMatches(host, image.Domain) && pathMatches(path, image.Path)
}

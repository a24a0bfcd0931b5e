// SPDX-License-Identifier: Apache-2.0

package image

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	corev1 "k8s.io/api/core/v1"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/podwright/podwright/internal/images"
)

// credential is what to show to a registry, or to a part of it.
type credential struct {
	// host is that of the registry, with its port; its labels may have
	// wildcards: *.example.com.
	host string
	// path is that of the repositories that it is for, empty for all.
	path string
	auth *criv1.AuthConfig
	// owner is the namespace of the secret that it is from, empty for the node's own.
	owner string
}

// dockerEntry is the entry of a registry in a Docker configuration.
type dockerEntry struct {
	Username      string `json:"username"`
	Password      string `json:"password"`
	Auth          string `json:"auth"`
	IdentityToken string `json:"identitytoken"`
	RegistryToken string `json:"registrytoken"`
}

// secretCredentials reads the credentials of a secret.
func secretCredentials(secret *corev1.Secret) ([]credential, error) {
	if data, found := secret.Data[corev1.DockerConfigJsonKey]; found {
		return parseDockerConfig(data)
	}
	if data, found := secret.Data[corev1.DockerConfigKey]; found {
		return parseDockerEntries(data)
	}
	return nil, fmt.Errorf("is of type %q and has neither %s nor %s: want a secret of type %s",
		secret.Type, corev1.DockerConfigJsonKey, corev1.DockerConfigKey, corev1.SecretTypeDockerConfigJson)
}

// parseDockerConfig reads the format of Docker's config.json.
func parseDockerConfig(data []byte) ([]credential, error) {
	var config struct {
		Auths json.RawMessage `json:"auths"`
	}
	if json.Unmarshal(data, &config) != nil {
		return nil, errors.New("is no configuration of Docker: want JSON with the field auths")
	}
	if len(config.Auths) == 0 {
		return nil, nil
	}
	return parseDockerEntries(config.Auths)
}

// parseDockerEntries reads the format of Docker's older .dockercfg: entries by
// registry. An entry that says nothing counts as none. Errors never show data.
func parseDockerEntries(data []byte) ([]credential, error) {
	var entries map[string]dockerEntry
	if json.Unmarshal(data, &entries) != nil {
		return nil, errors.New("holds no credentials: want JSON with an object per registry")
	}
	var all []credential
	for _, registry := range slices.Sorted(maps.Keys(entries)) {
		auth, err := entries[registry].config()
		if err != nil {
			return nil, fmt.Errorf("holds no credentials for registry %q: %w", registry, err)
		}
		if auth == nil {
			continue
		}
		host, path := splitRegistry(registry)
		all = append(all, credential{host: host, path: path, auth: auth})
	}
	return all, nil
}

// config returns what the runtime takes; nil if there is nothing.
func (e dockerEntry) config() (*criv1.AuthConfig, error) {
	auth := &criv1.AuthConfig{Username: e.Username, Password: e.Password, IdentityToken: e.IdentityToken, RegistryToken: e.RegistryToken}
	if e.Auth != "" && e.Username == "" && e.Password == "" {
		decoded, err := base64.StdEncoding.DecodeString(e.Auth)
		if err != nil {
			decoded, err = base64.RawStdEncoding.DecodeString(e.Auth)
		}
		user, password, found := strings.Cut(strings.TrimRight(string(decoded), "\x00"), ":")
		if err != nil || !found {
			return nil, errors.New("the field auth is not what it should be: want user:password in base64")
		}
		auth.Username, auth.Password = user, password
	}
	if proto.Equal(auth, &criv1.AuthConfig{}) {
		return nil, nil
	}
	return auth, nil
}

// The names by which Docker Hub goes in credentials, and the one in references.
var hubNames = []string{"index.docker.io", "registry-1.docker.io", "registry.hub.docker.com"}

const hub = "docker.io"

// splitRegistry splits the key of an entry into host and path. Scheme and the
// version of the protocol, as in https://index.docker.io/v1/, say nothing.
func splitRegistry(key string) (host, path string) {
	key = strings.TrimPrefix(strings.TrimPrefix(key, "https://"), "http://")
	host, path, _ = strings.Cut(key, "/")
	for _, version := range []string{"v1", "v2"} {
		if path == version || strings.HasPrefix(path, version+"/") {
			path = strings.TrimPrefix(path, version)
			break
		}
	}
	if slices.Contains(hubNames, host) {
		host = hub
	}
	return host, strings.Trim(path, "/")
}

// matching returns the credentials for an image, those of the longest path
// first, each once.
func matching(all []credential, image images.Reference) []credential {
	var match, once []credential
	for _, c := range all {
		if image.Domain != "" && hostMatches(c.host, image.Domain) && pathMatches(c.path, image.Path) {
			match = append(match, c)
		}
	}
	slices.SortStableFunc(match, func(a, b credential) int { return cmp.Compare(len(b.path), len(a.path)) })
	for _, c := range match {
		if !slices.ContainsFunc(once, func(other credential) bool { return proto.Equal(other.auth, c.auth) }) {
			once = append(once, c)
		}
	}
	return once
}

// hostMatches compares label by label, so that * stands for one of them.
func hostMatches(pattern, host string) bool {
	patterns, labels := strings.Split(pattern, "."), strings.Split(host, ".")
	if len(patterns) != len(labels) {
		return false
	}
	for i, p := range patterns {
		if ok, err := path.Match(p, labels[i]); !ok || err != nil {
			return false
		}
	}
	return true
}

// pathMatches tells whether a repository is at a path or below.
func pathMatches(prefix, path string) bool {
	return prefix == "" || path == prefix || strings.HasPrefix(path, prefix+"/")
}

// SPDX-License-Identifier: Apache-2.0

package images

import (
	"fmt"
	"regexp"
	"strings"
)

// Reference is a normalised image reference. Its zero value refers to nothing.
type Reference struct {
	// Domain is the registry, docker.io if the reference named none. It is
	// empty if the reference begins with what should be one and is no host
	// name, such as my_registry.local/web. Then it is part of the path.
	Domain string
	// Path is the repository in the registry, library/nginx for example.
	Path string
	// Tag is latest if the reference named neither tag nor digest. It is
	// empty beside a digest, which says more.
	Tag string
	// digest is sha256:… or empty.
	digest string
}

const (
	defaultDomain = "docker.io"
	formerDomain  = "index.docker.io" // means the same
	official      = "library/"
	defaultTag    = "latest"
	// maxPathLength is that of the name without its registry.
	maxPathLength = 255
)

var (
	domainForm = regexp.MustCompile(`^(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\[[0-9a-fA-F:]+\])(?::[0-9]+)?$`)
	pathForm   = regexp.MustCompile(`^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*$`)
)

// maxTagLength, and how many digits the digests have: a regular expression that counts
// as far as that takes a hundred kilobytes of every program.
const maxTagLength = 128

var digestLengths = map[string]int{"sha256": 64, "sha384": 96, "sha512": 128}

func isDigest(text string) bool {
	algorithm, digits, _ := strings.Cut(text, ":")
	length, known := digestLengths[algorithm]
	return known && isHex(digits, length)
}

// isHex tells whether a text is of so many lower-case hexadecimal digits.
func isHex(text string, length int) bool {
	return len(text) == length && strings.Trim(text, "0123456789abcdef") == ""
}

func isTag(text string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
	return text != "" && len(text) <= maxTagLength && strings.Trim(text, letters+".-") == "" && strings.Contains(letters, text[:1])
}

// ParseReference reads a reference. The error says which part of it is wrong.
func ParseReference(image string) (Reference, error) {
	fail := func(format string, args ...any) (Reference, error) {
		return Reference{}, fmt.Errorf("image %q: "+format, append([]any{image}, args...)...)
	}
	if image == "" {
		return Reference{}, fmt.Errorf("image: is empty, want a reference such as nginx:1.27")
	}
	if isHex(image, digestLengths["sha256"]) {
		return fail("is the ID of an image, which no registry knows: want a name, with a tag or a digest")
	}
	name, digest, pinned := strings.Cut(image, "@")
	if pinned && !isDigest(digest) {
		return fail("the digest is %q, want sha256: and 64 lower-case hexadecimal digits", digest)
	}
	name, tag, tagged := cutTag(name)
	if tagged && !isTag(tag) {
		return fail("the tag is %q, want at most 128 letters, digits, dots, dashes and underscores", tag)
	}
	r := Reference{Tag: tag, digest: digest}
	r.Domain, r.Path = split(name)
	if !domainForm.MatchString(r.Domain) && pathForm.MatchString(name) {
		r.Domain, r.Path = "", name
	}
	switch {
	case r.Domain != "" && !domainForm.MatchString(r.Domain):
		return fail("the registry is %q, want a host name or an address, with a port or without", r.Domain)
	case !pathForm.MatchString(r.Path):
		return fail("the name is %q, want lower-case letters and digits, with single separators between them", r.Path)
	case len(r.Path) > maxPathLength:
		return fail("the name has %d characters, want at most %d", len(r.Path), maxPathLength)
	case pinned:
		r.Tag = ""
	case !tagged:
		r.Tag = defaultTag
	}
	return r, nil
}

// cutTag cuts the tag off: what follows a colon in the last part of the path.
func cutTag(name string) (before, tag string, found bool) {
	colon := strings.LastIndexByte(name, ':')
	if colon < 0 || colon < strings.LastIndexByte(name, '/') {
		return name, "", false
	}
	return name[:colon], name[colon+1:], true
}

// split finds out whether a name begins with a registry: that has a dot, a
// port or an upper-case letter in it, or is localhost.
func split(name string) (domain, path string) {
	first, rest, found := strings.Cut(name, "/")
	if !found || !strings.ContainsAny(first, ".:") && first != "localhost" && strings.ToLower(first) == first {
		first, rest = defaultDomain, name
	}
	if first == formerDomain {
		first = defaultDomain
	}
	if first == defaultDomain && !strings.Contains(rest, "/") {
		rest = official + rest
	}
	return first, rest
}

// Name is the short form of the name that people write: nginx, not
// docker.io/library/nginx.
func (r Reference) Name() string {
	if r.Domain == "" {
		return r.Path
	}
	if r.Domain != defaultDomain {
		return r.Domain + "/" + r.Path
	}
	if name, isOfficial := strings.CutPrefix(r.Path, official); isOfficial && !strings.Contains(name, "/") {
		return name
	}
	return r.Path
}

// Version is the tag, or the digest if there is one: what tells the images
// of one name apart.
func (r Reference) Version() string {
	if r.digest != "" {
		return r.digest
	}
	return r.Tag
}

// String is the whole reference in its short form, nginx:latest for example. It
// can be parsed again.
func (r Reference) String() string { return r.Name() + r.suffix() }

// Full is the whole reference as runtimes list it,
// docker.io/library/nginx:latest for example.
func (r Reference) Full() string { return r.Domain + "/" + r.Path + r.suffix() }

// suffix is the version with the sign before it.
func (r Reference) suffix() string {
	if r.digest != "" {
		return "@" + r.digest
	}
	return ":" + r.Tag
}

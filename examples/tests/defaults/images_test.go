// SPDX-License-Identifier: Apache-2.0

package defaults

import (
	"math/rand"
	"strings"
	"testing"

	upstreamref "github.com/distribution/reference"

	"github.com/podwright/podwright/internal/images"
)

// parts are what references are put together of, right and wrong ones.
var parts = []string{
	"", "nginx", "a", "library", "docker.io", "index.docker.io", "quay.io", "localhost", "host:5000", "HOST", "[::1]:80", "[::1]", "a.b", "a-b", "a--b",
	"a__b", "a_b", "a..b", "-a", "a-", "A", "/", "/", "/", ":", ":", "@", ":1", ":v1.2-x_Y", ":-x", ":" + strings.Repeat("t", 128), ":" + strings.Repeat("t", 129),
	"@sha256:" + strings.Repeat("a", 64), "@sha256:" + strings.Repeat("A", 64), "@sha512:" + strings.Repeat("0", 128), "@sha384:" + strings.Repeat("0", 96),
	"@sha256:" + strings.Repeat("a", 63), "@md5:" + strings.Repeat("a", 32), strings.Repeat("a", 64), strings.Repeat("b", 250), " ",
}

// TestImageParity compares how images are read with the library that Docker and
// Kubernetes read them with.
func TestImageParity(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	right := 0
	for range 200000 {
		var image strings.Builder
		for range 1 + random.Intn(6) {
			image.WriteString(parts[random.Intn(len(parts))])
		}
		want, ok := familiar(image.String())
		r, err := images.ParseReference(image.String())
		if (err == nil) != ok {
			t.Fatalf("%q: error %v, upstream reads it as %q", image.String(), err, want)
		}
		if ok && r.String() != want {
			t.Fatalf("%q is %q, upstream reads it as %q", image.String(), r, want)
		}
		if ok {
			right++
		}
	}
	if right < 5000 {
		t.Errorf("only %d references were right", right)
	}
}

// familiar is the short form of a reference, without the tag beside a digest.
func familiar(image string) (string, bool) {
	named, err := upstreamref.ParseNormalizedNamed(image)
	if err != nil {
		return "", false
	}
	if digested, ok := named.(upstreamref.Digested); ok {
		pinned, err := upstreamref.WithDigest(upstreamref.TrimNamed(named), digested.Digest())
		if err != nil {
			return "", false
		}
		return upstreamref.FamiliarString(pinned), true
	}
	return upstreamref.FamiliarString(upstreamref.TagNameOnly(named)), true
}

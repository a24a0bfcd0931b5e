// SPDX-License-Identifier: Apache-2.0

package inplace

import "strings"

// sameImage tells whether an image of a specification and one of a status are
// the same reference. Runtimes report the registry and the tag that are meant
// if the specification names none.
func sameImage(spec, status string) bool {
	return spec == status || fullImage(spec) == fullImage(status)
}

// fullImage returns an image reference with the registry and the tag that
// stand for none: busybox is docker.io/library/busybox:latest.
func fullImage(image string) string {
	registry, path, found := strings.Cut(image, "/")
	if !found || !strings.ContainsAny(registry, ".:") && registry != "localhost" {
		registry, path = "docker.io", image
	}
	if registry == "docker.io" && !strings.Contains(path, "/") {
		path = "library/" + path
	}
	if !strings.ContainsAny(path, ":@") {
		path += ":latest"
	}
	return registry + "/" + path
}

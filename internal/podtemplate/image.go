// SPDX-License-Identifier: Apache-2.0

package podtemplate

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// pullPolicy is the pull policy that follows from the tag of an image: Always
// for the tag latest, written or meant, and IfNotPresent otherwise. An image
// with a digest and no tag means that digest and not latest.
//
// The image is taken to be well-formed; a malformed one is never pulled.
func pullPolicy(image string) corev1.PullPolicy {
	name, _, pinned := strings.Cut(image, "@")
	_, tag, tagged := strings.Cut(name[strings.LastIndexByte(name, '/')+1:], ":")
	if tag == "latest" || image != "" && !tagged && !pinned {
		return corev1.PullAlways
	}
	return corev1.PullIfNotPresent
}

// SPDX-License-Identifier: Apache-2.0

package crds

import (
	"fmt"
	"strings"
	"testing"
)

// nodeImage is a NodeImage as YAML with these lines as its images.
func nodeImage(lines string) string {
	return "apiVersion: apps.kruise.io/v1alpha1\nkind: NodeImage\nmetadata: {name: node-1}\nspec:\n  images:\n    " +
		strings.ReplaceAll(strings.TrimSpace(lines), "\n", "\n    ")
}

// manyImages are the lines of so many images with so many tags.
func manyImages(images, tags int) string {
	list := make([]string, tags)
	for i := range list {
		list[i] = fmt.Sprintf("{tag: v%d, createdAt: '2023-01-01T00:00:00Z', pullPolicy: {ttlSecondsAfterFinished: 60}}", i)
	}
	var lines strings.Builder
	for i := range images {
		fmt.Fprintf(&lines, "image-%d: {tags: [%s]}\n", i, strings.Join(list, ", "))
	}
	return lines.String()
}

func TestNodeImage(t *testing.T) {
	v := newValidator(t, "nodeimages.apps.kruise.io", "v1alpha1")
	const tooMany = "spec.images: must hold at most 256 images"
	for _, test := range []struct {
		name, object, want string // no want: accepted
	}{
		{"IMG-2.1: nothing to do", "{apiVersion: apps.kruise.io/v1alpha1, kind: NodeImage, metadata: {name: node-1}}", ""},
		{"IMG-2.1: an empty spec", "{apiVersion: apps.kruise.io/v1alpha1, kind: NodeImage, metadata: {name: node-1}, spec: {}}", ""},
		{"a task", nodeImage("nginx: {pullSecrets: [{namespace: shop, name: registry}], sandboxConfig: {labels: {a: b}}, tags: [{tag: v1, version: 2, createdAt: '2023-01-01T00:00:00Z', pullPolicy: {timeoutSeconds: 600, backoffLimit: 3, ttlSecondsAfterFinished: 60, activeDeadlineSeconds: 1800}, ownerReferences: [{kind: ImagePullJob, name: pull}]}]}"), ""},
		{"IMG-2.2: a task before it is defaulted", nodeImage("nginx: {tags: [{tag: v1, pullPolicy: {ttlSecondsAfterFinished: 60}}]}"), ""},
		{"IMG-2.2: 256 images", nodeImage(manyImages(256, 1)), ""},
		{"IMG-2.2: 257 images", nodeImage(manyImages(257, 1)), tooMany},
		{"IMG-2.2: an image without a name", nodeImage("nginx: {tags: []}\n'': {tags: []}"), "spec.images: every key must name an image"},
		{"tags missing (without a text, it is the schema that requires them)", nodeImage("nginx: {}"), "spec.images.nginx.tags: "},
		{"a great size is affordable", nodeImage(manyImages(256, 50)), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var want []string
			if test.want != "" {
				want = []string{test.want}
			}
			check(t, want, v.judge(t, test.object, test.object))
			check(t, want, v.judge(t, test.object, ""))
		})
	}
}

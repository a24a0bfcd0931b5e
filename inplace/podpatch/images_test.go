// SPDX-License-Identifier: Apache-2.0

package podpatch_test

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podwright/podwright/inplace/podpatch"
)

// Patches may share a map of images: to set another one in a patch changes no other. What is set of a container's resources adds up.
func TestImagesAndResources(t *testing.T) {
	images := map[string]string{"main": "main:2"}
	p := podpatch.Patch{Images: images}
	p.SetImage("log", "log:2")
	p.SetImage("main", "main:3")
	if !maps.Equal(images, map[string]string{"main": "main:2"}) || !maps.Equal(p.Images, map[string]string{"main": "main:3", "log": "log:2"}) {
		t.Errorf("the images are %v, those of another patch %v", p.Images, images)
	}
	p.SetResources("web", cpu("2", "1"))
	p.SetResources("web", cpu("", "3"))
	if !cmp.Equal(p.Resources["web"], cpu("2", "3")) {
		t.Errorf("cpu is %v", p.Resources["web"])
	}
}

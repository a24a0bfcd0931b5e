// SPDX-License-Identifier: Apache-2.0

package image

import (
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

func TestStoryVersions(t *testing.T) {
	play(t, func(n *node) {
		n.takes(time.Minute)
		n.start()
		n.sleep(10 * time.Second)
		n.edit(again("nginx"))
		n.sleep(5 * time.Second)
		n.expect("IMG-3.2: the other version is reported", "nginx:1 v2 Pulling 0%")
		n.sleep(time.Minute)
		n.expect("IMG-3.2: the pull that was under way serves it", "nginx:1 v2 Succeeded 100% nginx@sha256:nginx:1")
		n.want("pulls", []string{"nginx:1"}, n.pulls())
		n.edit(again("nginx"))
		n.sleep(5 * time.Second)
		n.expect("IMG-3.2: a higher version; the runtime has the image", "nginx:1 v3 Succeeded 100% nginx@sha256:nginx:1")
		n.edit(no("nginx"))
		n.sleep(5 * time.Second)
		n.expect("IMG-2.5: nothing is left", "desired 0 succeeded 0 failed 0 pulling 0")
	}, wants("nginx", "1"))
}

// IMG-3.2: a new job for an image each second keeps no pull from its end.
func TestStoryAJobEachSecond(t *testing.T) {
	play(t, func(n *node) {
		n.takes(10 * time.Second)
		n.start()
		for range 15 {
			n.sleep(time.Second)
			n.edit(again("nginx"))
		}
		n.sleep(5 * time.Second)
		n.expect("it is there", "nginx:1 v16 Succeeded 100% nginx@sha256:nginx:1")
		n.want("pulls", []string{"nginx:1"}, n.pulls())
	}, wants("nginx", "1"))
}

// IMG-3.2: what an attempt for a version before ends with is not held against the version that it came to serve.
func TestStoryFailureOfAFormerVersion(t *testing.T) {
	once := func(t *v1alpha1.ImageTagSpec) {
		t.PullPolicy.BackoffLimit = ptr.To[int32](0)
		t.PullPolicy.TimeoutSeconds = ptr.To[int32](20)
	}
	play(t, func(n *node) {
		n.takes(time.Minute)
		n.start()
		n.sleep(10 * time.Second)
		n.edit(again("nginx"))
		n.sleep(5 * time.Second)
		n.takes(time.Second)
		n.sleep(20 * time.Second)
		n.expect("it has an attempt of its own", "nginx:1 v2 Succeeded 100% nginx@sha256:nginx:1")
	}, wants("nginx", "1", once))
}

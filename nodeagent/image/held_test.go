// SPDX-License-Identifier: Apache-2.0

package image

import (
	"fmt"
	"testing"
	"time"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// message is what the status says of why the image redis waits.
func (n *node) message() string {
	n.Helper()
	for _, tag := range n.nodeImage().Status.ImageStatuses["redis"].Tags {
		return tag.Message
	}
	return ""
}

// IMG-3.13: an image that waits for its turn says so after a minute, and since when. That costs nothing more. Once the image is
// pulled, it says so no more.
func TestStoryHeldUp(t *testing.T) {
	play(t, func(n *node) {
		n.options.Concurrency = 1
		n.takes(20 * time.Minute)
		n.start()
		began := time.Now().UTC().Format(time.RFC3339)
		n.sleep(30 * time.Second)
		n.want("before a minute is over", []string{""}, []string{n.message()})
		n.sleep(31 * time.Second)
		want := fmt.Sprintf("held up since %s: PullSlot: image redis:7: 1 other pulls are under way, which is as many as may be: of a (1)", began)
		n.want("after a minute", []string{want}, []string{n.message()})
		n.sent()
		n.sleep(10 * time.Minute)
		n.want("requests while it lasts", nil, n.sent())
		n.want("it stays", []string{want}, []string{n.message()})
		n.sleep(10 * time.Minute)
		n.want("once it has its turn", []string{""}, []string{n.message()})
	}, wants("nginx", "1", createdAgo(time.Minute), ownedBy("a")), wants("redis", "7", ownedBy("a")), func(of *v1alpha1.NodeImage) {
		for _, image := range of.Spec.Images {
			image.Tags[0].PullPolicy = &v1alpha1.ImageTagPullPolicy{TimeoutSeconds: new(int32(3000))}
		}
	})
}

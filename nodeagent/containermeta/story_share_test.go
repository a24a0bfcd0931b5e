// SPDX-License-Identifier: Apache-2.0

package containermeta

import (
	"fmt"
	"testing"
	"time"
)

// A namespace whose containers do not end leaves workers to others, and gets its turn. (CM-6)
func TestStoryShare(t *testing.T) {
	play(t, func(n *node) {
		n.options.RestartWorkers = 4
		n.start()
		stops := 0
		n.runtime.FailWith(func(method string) error {
			if method == "StopContainer" {
				stops++
			}
			return nil
		})
		names := []string{"web-0", "web-1", "web-2", "web-3", "web-4"}
		for i, name := range names {
			n.create(newPod(name))
			n.runtime.SetEndsAfter(fmt.Sprintf("main-%d", 2*i+1), 25*time.Second)
		}
		n.sleep("10s")
		for _, name := range names {
			n.update(name, "2")
		}
		n.sleep("15s")
		if stops != 3 {
			n.Errorf("of a namespace with 5 pods %d are being restarted, want 3 of 4 workers", stops)
		}
		n.sleep("1m")
		if stops != len(names) {
			n.Errorf("then %d have been restarted, want all 5", stops)
		}
	})
}

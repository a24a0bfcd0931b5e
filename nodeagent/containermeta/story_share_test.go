// SPDX-License-Identifier: Apache-2.0

package containermeta

import (
	"fmt"
	"strings"
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
		n.sleep("10s")
		if stops != 3 {
			n.Errorf("of a namespace with 5 pods %d are being restarted, want 3 of 4 workers", stops)
		}
		n.want("CM-6: no event of a short wait", nil, n.waits())
		n.sleep("5s")
		told := restartWaits + "default (3)"
		n.want("CM-6: whom the others wait for", []string{told, told}, n.waits())
		n.sleep("1m")
		n.want("CM-6: once", []string{told, told}, n.waits())
		if stops != len(names) {
			n.Errorf("then %d have been restarted, want all 5", stops)
		}
	})
}

// restartWaits begins the events of waits for a worker.
const restartWaits = "Normal RestartWaits: The restart of main, whose environment comes from labels or annotations that have changed, waits for a worker of the node agent: " +
	"containers of other pods are being stopped, of "

// waits are the events of waits for a worker.
func (n *node) waits() (events []string) {
	for _, event := range n.events.All() {
		if strings.Contains(event, "RestartWaits") {
			events = append(events, event)
		}
	}
	return events
}

// A restart stands in the queue, since each worker waits for a container of another pod. It says whom it waits for, and has its
// turn. (CM-6)
func TestStoryQueue(t *testing.T) {
	for _, test := range []struct {
		name  string
		lasts time.Duration // how long the container of the first pod takes to end
		later string        // when the second pod is updated
		want  []string      // the events of its wait
	}{
		{"a short wait", 8 * time.Second, "0s", nil},
		{"a long one", 25 * time.Second, "0s", []string{restartWaits + "default (1)"}},
		{"before the stop of the first begins", 25 * time.Second, "1s", []string{restartWaits + "default (1)"}},
		{"while it is under way", 25 * time.Second, "6s", []string{restartWaits + "default (1)"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			play(t, func(n *node) {
				n.options.RestartWorkers = 1
				n.start()
				stops := 0
				n.runtime.FailWith(func(method string) error {
					if method == "StopContainer" {
						stops++
					}
					return nil
				})
				n.create(newPod("web-0"))
				n.create(newPod("web-1"))
				n.runtime.SetEndsAfter("main-1", test.lasts)
				n.sleep("10s")
				n.update("web-0", "2")
				n.sleep(test.later)
				n.update("web-1", "2")
				n.sleep("9s")
				n.want("CM-6: no event of a short wait", nil, n.waits())
				n.sleep("10s")
				n.want("CM-6: whom the other one waits for", test.want, n.waits())
				n.sleep("5m")
				n.want("CM-6: once", test.want, n.waits())
				if stops != 2 {
					t.Errorf("%d containers have been restarted, want both", stops)
				}
			})
		})
	}
}

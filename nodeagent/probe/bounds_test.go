// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// PPM-4.10: a hundred probes that take long do not run all at once, and a handler that changes ends the run of the former.
func TestBounds(t *testing.T) {
	var changes []change
	for i := range 30 {
		changes = append(changes, wants("web-0", strings.Repeat("p", i+1), "every=1", "timeout=5"))
	}
	play(t, func(n *node) {
		id := n.run("web-0", "main")
		for i := range 30 {
			n.exits(id, strings.Repeat("p", i+1), -1)
		}
		n.options.Limits.Concurrency = 3
		n.start()
		n.Sleep(20*time.Second + 500*time.Millisecond)
		if got := n.execs(); got < 10 || got > 15 {
			n.Errorf("%d commands of 5 s, three at a time, in 20 s", got)
		}
		n.edit(nothing)
		n.Sleep(time.Second)
		if plan, err := n.agent.Snapshot(n.Context(), types.NamespacedName{Name: "node-1"}); err != nil || plan.Running != 0 || len(plan.Probes) != 0 {
			n.Errorf("%+v, error %v", plan, err)
		}
	}, changes...)
}

// PPM-4.10: commands of others that do not end, of which there is one for every slot and more, keep no probe from being run.
func TestCommandsOfOthersThatDoNotEnd(t *testing.T) {
	changes := []change{}
	for i := range 30 {
		changes = append(changes, wants("evil/evil", fmt.Sprint("hang", i), "every=1", "timeout=1073741824"))
	}
	changes = append(changes, wants("web-0", "idle", "every=1"))
	play(t, func(n *node) {
		for i := range 30 {
			n.exits("main-1", fmt.Sprint("hang", i), -1)
		}
		n.run("evil/evil", "main")
		n.run("web-0", "main")
		n.exits("main-2", "idle", 0)
		n.start()
		n.Sleep(30 * time.Second)
		n.exits("main-2", "idle", 1)
		n.Sleep(5 * time.Second)
		if got := fmt.Sprint(shownStatus(&n.nodePodProbe().Status)); !strings.Contains(got, "web-0 idle Failed") {
			n.Errorf("five seconds after the container has failed: %s", got)
		}
		const waits = " Unknown (the probe has not been run for 2m0s, 5 of its periods or more: 10 probes are under way, of evil (10))"
		n.Sleep(95 * time.Second) // the last ten have not had their first turn
		if got := fmt.Sprint(shownStatus(&n.nodePodProbe().Status)); strings.Count(got, waits) < 5 {
			n.Errorf("PPM-4.12: those that wait for their first turn do not say for whom: %s", got)
		}
		n.Sleep(8 * time.Minute)
		n.exits("main-2", "idle", 0)
		n.Sleep(5 * time.Second)
		if got := fmt.Sprint(shownStatus(&n.nodePodProbe().Status)); !strings.Contains(got, "web-0 idle Succeeded") || !strings.Contains(got, "hang7 Failed (the command did not end within 1m0s)") {
			n.Errorf("ten minutes later: %s", got)
		} else if !strings.Contains(got, waits) {
			n.Errorf("PPM-4.12: those that wait do not say for whom: %s", got)
		}
	}, changes...)
}

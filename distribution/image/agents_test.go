// SPDX-License-Identifier: Apache-2.0

package image

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// replay sends the requests of an agent, as they were written down, to the status of a NodeImage.
func (c *cluster) replay(file, node string, each func()) {
	c.Helper()
	text, err := os.ReadFile("testdata/agents/" + file)
	c.must(err)
	agent := c.distribution(agentUser).NodeImages()
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if after, is := strings.CutPrefix(line, "after "); is {
			d, err := time.ParseDuration(after)
			c.must(err)
			c.pause(d)
		} else if line != "" && !strings.HasPrefix(line, "#") {
			patch := strings.ReplaceAll(line, "NOW", time.Now().UTC().Format(time.RFC3339))
			_, err := agent.Patch(c.Context(), node, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, "status")
			c.must(err)
			c.pause(time.Second)
			each()
		}
	}
}

// Agents of OpenKruise beside podwright's manager: what they write to NodeImages means what it did, and nothing is written over it. (IMG-1.5, IMG-2.4)
func TestAgentsOfOpenKruise(t *testing.T) {
	const running, over = "job is running, progress 0.0%", "job has completed"
	for _, test := range []struct {
		name, file string
		patience   time.Duration // --nodeimage-response-timeout; 0: the default
		want       []string      // after each request
		succeeded  int32
	}{
		{"IMG-2.4: 1.4 is silent, and is given the time", "1.4.txt", time.Hour, []string{over}, 1},
		{"IMG-2.4: 1.4 is silent, and is not", "1.4.txt", 0, []string{over}, 0},
		{"IMG-2.4: 1.5 to 1.8 report the beginning", "1.5.txt", 0, []string{running, over}, 1},
		{"IMG-2.4: 1.9 reports that it waits, for longer than a silent agent may", "1.9.txt", 0, []string{running, running, over}, 1},
		{"IMG-1.5: 1.9 fails", "1.9-fails.txt", 0, []string{running, running, over}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			play(t, func(t *testing.T, c *cluster) {
				c.nodeOptions.Timing.ResponseTimeout = test.patience
				c.begin(1)
				c.addJob("pull", "")
				c.pause(100 * time.Millisecond)
				c.sent(agentUser)
				var got []string
				c.replay(test.file, "n0000", func() { got = append(got, c.job("pull").Status.Message) })
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("messages (-want +got):\n%s", diff)
				}
				if status := c.job("pull").Status; status.Succeeded != test.succeeded || status.Failed != 1-test.succeeded || status.CompletionTime == nil {
					t.Errorf("status %+v", status)
				}
			})
		})
	}
}

// A node whose agent of 1.9 waits counts as active: no other node begins beyond the parallelism. (IMG-1.4)
func TestWaitingCountsAsActive(t *testing.T) {
	play(t, func(t *testing.T, c *cluster) {
		c.begin(2)
		c.addJob("pull", "")
		c.pause(time.Second)
		step := 0
		c.replay("1.9.txt", "n0000", func() {
			step++
			want := []string{"n0000 nginx:1 v1 pull"}
			if step == 3 {
				c.pause(6 * time.Second)
				want = append(want, "n0001 nginx:1 v1 pull")
			}
			c.expectTasks("IMG-1.4: parallelism 1", want...)
			if status := c.job("pull").Status; step < 3 && status.Active != 1 {
				t.Errorf("IMG-1.5: %d nodes are active", status.Active)
			}
		})
		waiting := c.nodeImage("n0000").Status.Waiting
		if waiting != 0 {
			t.Errorf("status.waiting is %d after the end", waiting)
		}
	})
}

// SPDX-License-Identifier: Apache-2.0

package image

import (
	"testing"
	"time"
)

// IMG-1.9: a job that is paused says so after a minute, since when that is, and nothing else once it goes on.
func TestHeldUp(t *testing.T) {
	play(t, func(t *testing.T, c *cluster) {
		c.begin(2)
		began := time.Now().UTC().Format(time.RFC3339)
		c.addJob("web", "image: web:1\nparallelism: 0")
		c.pause(50 * time.Second)
		const progress = "job is running, progress 0.0%"
		if got := c.job("web").Status.Message; got != progress {
			t.Errorf("before a minute is over: %s", got)
		}
		c.pause(20 * time.Second)
		if got, want := c.job("web").Status.Message, progress+"; held up since "+began+": Paused: spec.parallelism is 0: the job is paused"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}

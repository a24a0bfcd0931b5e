// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/patches"
)

// TestBacklog shows in testdata/backlog.txt in which order keys come, each of which is a letter. What happens goes before what was
// there at the start, and does not hold it up. Of a row, known are keys that turn out to have been there at the start. The events that
// are called later come once two keys have been taken. (CT-17)
func TestBacklog(t *testing.T) {
	type row struct{ Initial, Events, Known, Later string }
	patches.PlayRows(t, "testdata/backlog.txt", nil, func(t *testing.T, _ string, r *row) string {
		loop := newLoop(loopConfig{Name: "test"})
		defer loop.queue.ShutDown()
		add := func(letters string, add func(types.NamespacedName)) {
			for _, letter := range letters {
				add(types.NamespacedName{Name: string(letter)})
			}
		}
		add(r.Initial, loop.addInitial)
		add(r.Events, loop.add)
		add(r.Known, loop.addInitial)
		got := ""
		for loop.queue.Len() > 0 {
			if len(got) == 2 {
				add(r.Later, loop.add)
			}
			next, _ := loop.queue.Get()
			loop.queue.Done(next)
			got += next.Name
		}
		if n := len(loop.backlog.initial) + len(loop.backlog.waits) + len(loop.backlog.front); n != 0 {
			t.Errorf("%d keys are remembered after all have been taken", n)
		}
		return got
	})
}

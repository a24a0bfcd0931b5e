// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// What happens goes before what was there at the start, and does not hold it up. (CT-17)
func TestBacklog(t *testing.T) {
	for _, test := range []struct {
		name            string
		initial, events string // a letter is a key
		known           string // keys that turn out to have been there at the start
		later           string // events that come once two keys have been taken
		want            string
	}{
		{"what was there keeps its order", "abc", "", "", "", "abc"},
		{"what happens goes first", "abcd", "xy", "", "", "xyabcd"},
		{"also to what was there", "abcd", "c", "", "", "cabd"},
		{"once", "abcd", "ccbc", "", "", "cbad"},
		{"also later", "abcdef", "", "", "f", "abfcde"},
		{"one of four was there", "abc", "pqrstuvw", "", "", "pqrastubvwc"},
		{"what has been taken may come again", "abc", "", "", "ba", "abbca"},
		{"what happened stays first if it was there, too", "a", "w", "w", "", "wa"},
	} {
		t.Run(test.name, func(t *testing.T) {
			loop := newLoop(loopConfig{Name: "test"})
			defer loop.queue.ShutDown()
			key := func(letter rune) types.NamespacedName { return types.NamespacedName{Name: string(letter)} }
			add := func(letters string, add func(types.NamespacedName)) {
				for _, letter := range letters {
					add(key(letter))
				}
			}
			add(test.initial, loop.addInitial)
			add(test.events, loop.add)
			add(test.known, loop.addInitial)
			got := ""
			for loop.queue.Len() > 0 {
				if len(got) == 2 {
					add(test.later, loop.add)
				}
				next, _ := loop.queue.Get()
				loop.queue.Done(next)
				got += next.Name
			}
			if got != test.want {
				t.Errorf("keys come in the order %s, want %s", got, test.want)
			}
			if n := len(loop.backlog.initial) + len(loop.backlog.waits) + len(loop.backlog.front); n != 0 {
				t.Errorf("%d keys are remembered after all have been taken", n)
			}
		})
	}
}

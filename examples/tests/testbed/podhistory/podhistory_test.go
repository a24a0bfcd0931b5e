// SPDX-License-Identifier: Apache-2.0

package podhistory

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// played is a history in which a is deleted, b stays, c comes, and d comes and goes; x was gone before all that.
func played() (changes []Change, since int) {
	h, all := &History{}, map[types.UID]*corev1.Pod{}
	see := func(name string, there bool, edits ...func(*corev1.Pod)) {
		pod, old := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}}, all[types.UID(name)]
		for _, edit := range edits {
			edit(pod)
		}
		before, after := &old, &pod
		if all[pod.UID] = pod; old == nil {
			before = nil
		}
		if !there {
			after = nil
		}
		h.Observe(nil, before, after, fmt.Sprint(len(h.Changes())+1), false)
	}
	leaving := func(pod *corev1.Pod) { pod.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }
	see("x", true)
	see("a", true)
	see("a", true)
	see("b", true)
	see("x", false)
	since = len(h.Changes())
	see("c", true)
	see("a", true, leaving)
	see("d", true)
	see("d", false)
	return h.Changes(), since
}

func TestTracks(t *testing.T) {
	changes, since := played()
	got := map[types.UID]string{}
	for uid, track := range Tracks(changes, since) {
		got[uid] = fmt.Sprintf("%d states, created %t, deleted %t, gone %t", len(track.States), track.Created, track.Deleted, track.Gone)
	}
	if diff := cmp.Diff(map[types.UID]string{
		"a": "2 states, created false, deleted true, gone false",
		"b": "1 states, created false, deleted false, gone false",
		"c": "1 states, created true, deleted false, gone false",
		"d": "2 states, created true, deleted true, gone true",
	}, got); diff != "" {
		t.Errorf("tracks (-want +got):\n%s", diff)
	}
}

func TestReplay(t *testing.T) {
	changes, since := played()
	var got []string
	Replay(changes, since, func(all map[types.UID]*corev1.Pod, last Change) {
		got = append(got, fmt.Sprint(slices.Sorted(maps.Keys(all)), " after ", last.version))
	})
	if diff := cmp.Diff([]string{"[a b] after 5", "[a b c] after 6", "[a b c] after 7", "[a b c d] after 8", "[a b c] after 9"}, got); diff != "" {
		t.Errorf("replayed (-want +got):\n%s", diff)
	}
	calls := 0
	Replay(nil, 0, func(all map[types.UID]*corev1.Pod, _ Change) { calls += 1 + len(all) })
	if calls != 1 {
		t.Errorf("the history of nothing: %d calls and pods, want 1 call without pods", calls)
	}
}

func TestLeast(t *testing.T) {
	changes, since := played()
	stays := func(pod *corev1.Pod) bool { return pod.DeletionTimestamp == nil }
	if got := []int{Least(changes, since, stays), Least(changes, 0, stays), Least(nil, 0, stays)}; !slices.Equal(got, []int{2, 0, 0}) {
		t.Errorf("least since then, ever, and of nothing: %v", got)
	}
	if got := Least(changes, since, func(pod *corev1.Pod) bool { return pod.Name == "a" && stays(pod) }); got != 0 {
		t.Errorf("one that is about to go: got %d, want 0", got)
	}
}

func TestChangeInOneLine(t *testing.T) {
	changes, _ := played()
	if got := changes[8].String(); !strings.Contains(got, " rv 9 d (d) gone ") {
		t.Errorf("got %q", got)
	}
	if got := (Change{}).String(); got != "nothing" {
		t.Errorf("the zero change: got %q", got)
	}
}

func TestPlaces(t *testing.T) {
	for want, states := range map[string][]string{
		"[]":                  {"", "node-0"},
		"[node-0 1]":          {"", "node-0", "node-0 1", "node-0 1"},
		"[node-0 1 node-0 2]": {"node-0 1", "node-0 2", "node-0 1"},
		"[node-0 1 node-0 ]":  {"node-0 1", "node-0", "node-0 1"},
		"[node-0 1 node-1 1]": {"node-0 1", "node-1 1"},
	} {
		track := &Track{}
		for _, state := range states {
			pod := &corev1.Pod{}
			pod.Spec.NodeName, pod.Status.PodIP, _ = strings.Cut(state, " ")
			track.States = append(track.States, pod)
		}
		if got := fmt.Sprint(track.Places()); got != want {
			t.Errorf("%q: got %s, want %s", states, got, want)
		}
	}
}

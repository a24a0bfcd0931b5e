// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestReplica moves a cache through the past of a server, event by event and at once.
func TestReplica(t *testing.T) {
	pod := func(name, version string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, ResourceVersion: version}}
	}
	r := &record{resource: pods, empty: func() Object { return &corev1.Pod{} }, objects: map[string]Object{"b": pod("b", "5")}}
	r.changes = []change{
		{version: 2, object: pod("a", "2")},
		{version: 3, object: pod("a", "3"), before: pod("a", "2"), gone: true},
		{version: 5, object: pod("b", "5")},
	}
	c := newReplica(r)
	state := func() string {
		var names []string
		for _, p := range sorted[*corev1.Pod](c.view()) {
			names = append(names, p.Name)
		}
		return strings.Join(names, " ") + " at " + c.informer.GetStore().LastStoreSyncResourceVersion()
	}
	var got []string
	step := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, state())
	}
	for range 2 {
		step(c.advance())
	}
	c.bookmark(9) // it is not that far
	step(nil)
	step(c.advance())
	c.bookmark(9)
	step(nil)
	again := newReplica(r)
	c = again
	step(c.relist(7))
	want := []string{"a at 2", " at 3", " at 3", "b at 5", "b at 9", "b at 7"}
	if diff := cmp.Diff(want, got); diff != "" || c.behind() != 0 {
		t.Errorf("%d behind, states (-want +got):\n%s", c.behind(), diff)
	}
}

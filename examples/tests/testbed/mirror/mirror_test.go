// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

func pod(name, version string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), ResourceVersion: version}}
}

// Every state is told in its order. A watch that ends is taken up at the place at which it ended, also after requests
// that fail. If that is not possible, the objects are listed again, which says what has gone meanwhile.
func TestMirror(t *testing.T) {
	expired := &apierrors.NewResourceExpired("too old").ErrStatus
	lists := [][]*corev1.Pod{{pod("a", "1"), pod("b", "2")}, {pod("a", "9"), pod("c", "8")}}
	watches := [][]watch.Event{
		{{Type: watch.Modified, Object: pod("a", "4")}, {Type: watch.Added, Object: pod("c", "5")}, {Type: watch.Bookmark, Object: pod("", "6")}},
		nil, // the request fails
		{{Type: watch.Modified, Object: pod("c", "8")}, {Type: watch.Error, Object: expired}},
		{{Type: watch.Deleted, Object: pod("c", "12")}},
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var asked, told []string
	failed := false
	source := From(func(context.Context, metav1.ListOptions) (*corev1.PodList, error) {
		if !failed {
			failed = true
			return nil, errors.New("not now")
		}
		list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: fmt.Sprint(10 - 7*(len(lists)-1))}}
		for _, pod := range lists[0] {
			list.Items = append(list.Items, *pod)
		}
		lists = lists[1:]
		return list, nil
	}, func(_ context.Context, o metav1.ListOptions) (watch.Interface, error) {
		asked = append(asked, o.ResourceVersion)
		if len(watches) == 0 {
			cancel()
			return nil, ctx.Err()
		}
		events := watches[0]
		watches = watches[1:]
		if events == nil {
			return nil, errors.New("not now")
		}
		watcher := watch.NewFakeWithChanSize(len(events), false)
		for _, event := range events {
			watcher.Action(event.Type, event.Object)
		}
		watcher.Stop()
		return watcher, nil
	})
	changes := 0
	m := New(source, func(all map[types.UID]*corev1.Pod, old, new **corev1.Pod, version string, gap bool) {
		text := fmt.Sprintf("%s of %d:", version, len(all))
		for _, pod := range []**corev1.Pod{old, new} {
			if pod == nil {
				text += " nothing"
			} else {
				text += " " + (*pod).Name + (*pod).ResourceVersion
			}
		}
		if gap {
			text += ", gap"
		}
		told = append(told, text)
	}, func() { changes++ })
	m.Run(ctx)
	<-m.Filled()
	want := []string{
		"3 of 1: nothing a1, gap", "3 of 2: nothing b2, gap", "4 of 2: a1 a4", "5 of 3: nothing c5", "8 of 3: c5 c8",
		"10 of 3: a4 a9, gap", "10 of 2: b2 nothing, gap", "12 of 1: c8 nothing",
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"3", "6", "6", "10", "12"}, asked); diff != "" {
		t.Errorf("watches after (-want +got):\n%s", diff)
	}
	if found, ok := m.Named("a"); !ok || found.ResourceVersion != "9" || len(m.All()) != 1 || m.Lists() != 2 || changes != 6 {
		t.Errorf("holds %v after %d lists, has told of %d changes", m.All(), m.Lists(), changes)
	}
	if m.Behind("12") != "" || m.Behind("13") == "" {
		t.Errorf("behind 12: %q, behind 13: %q", m.Behind("12"), m.Behind("13"))
	}
}

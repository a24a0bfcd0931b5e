// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/rollout"
)

// budget says which pods may be updated.
type budget func(*corev1.Pod) (bool, error)

func (b budget) AllowUpdate(_ context.Context, pod *corev1.Pod) (bool, error) { return b(pod) }

// patched is told of patches.
type patched struct {
	PodControl
	patch func(*rollout.PodPatch)
}

func (p patched) Patch(ctx context.Context, patch *rollout.PodPatch) error {
	p.patch(patch)
	return p.PodControl.Patch(ctx, patch)
}

// TestBudgetsAreAskedInOrder has pods whose patches change nothing be asked about: those that are asked first come first in the
// plan, whichever goroutine is fastest. Pods for which no budget is asked do not wait.
func TestBudgetsAreAskedInOrder(t *testing.T) {
	const pods = 40
	for round := range 50 {
		t.Run(fmt.Sprintf("CT-10: round %d", round), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var asked, want []string
				stage := &rollout.Stage{}
				for i := range pods {
					pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("web-", i)}}
					stage.Patch = append(stage.Patch, rollout.PodPatch{Pod: pod, Patch: &podpatch.Patch{}, ForUpdate: i%8 != 7})
					if i%8 != 7 {
						want = append(want, pod.Name)
					}
				}
				var free atomic.Int32
				begin := time.Now()
				a := &Applier[string]{Sync: (&Writer{}).Begin(&corev1.Pod{}), Reporting: &Reporting[string]{}}
				a.Budget = budget(func(pod *corev1.Pod) (bool, error) {
					time.Sleep(time.Millisecond)
					asked = append(asked, pod.Name)
					return true, nil
				})
				control := patched{a, func(p *rollout.PodPatch) {
					if !p.ForUpdate && time.Since(begin) == 0 {
						free.Add(1)
					}
				}}
				if err := a.patchPods(t.Context(), control, stage); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(asked, want) || free.Load() < 2 {
					t.Errorf("asked about %v, want %v; %d of the first 16 that need not ask did not wait, want 2", asked, want, free.Load())
				}
			})
		})
	}
}

// TestTurnsEndWithoutAQuestion has the first pod not be asked about, since its patch waits or is none: the others do not wait for it.
func TestTurnsEndWithoutAQuestion(t *testing.T) {
	for name, first := range map[string]*podpatch.Patch{
		"CT-12: another writer takes it back": {},
		"CT-12: it is no patch":               {Metadata: []byte("no patch")},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pod := func(name string) *corev1.Pod { return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}} }
				stage := &rollout.Stage{Patch: []rollout.PodPatch{{Pod: pod("web-0"), Patch: first, ForUpdate: true},
					{Pod: pod("web-1"), Patch: &podpatch.Patch{}, ForUpdate: true}}}
				a := &Applier[string]{Sync: (&Writer{}).Begin(pod("web")), Reporting: &Reporting[string]{}}
				for range 4 {
					a.Sync.Own.Contests.Wrote(a.Sync.Key, "pod /web-0", "", time.Now())
				}
				asked := []string{}
				a.Budget = budget(func(pod *corev1.Pod) (bool, error) {
					asked = append(asked, pod.Name)
					return true, nil
				})
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				if err := a.patchPods(ctx, a, stage); err == nil || ctx.Err() != nil || !slices.Equal(asked, []string{"web-1"}) {
					t.Errorf("asked about %v, error %v, %v", asked, err, ctx.Err())
				}
			})
		})
	}
}

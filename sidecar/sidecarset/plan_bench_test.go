// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/planbench"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// BenchmarkPlan: a plan for 50,000 pods that are settled takes 50 ms at most.
func BenchmarkPlan(b *testing.B) {
	for _, test := range []struct {
		name  string
		setUp func(b *testing.B, n int) *world
	}{
		{"settled", func(b *testing.B, n int) *world {
			w := many(b, "", n, n, n)
			w.sync()
			return w
		}},
		{"update", func(b *testing.B, n int) *world { return many(b, "maxUnavailable: 10%", n, n/2, n/2) }},
		{"take-apart", func(b *testing.B, n int) *world {
			w := many(b, "maxUnavailable: 100%", n, 0, 0)
			for i, pod := range w.Pods { // each was injected into at another time
				at, text := w.Now.Add(time.Duration(i)*time.Second).UTC().Format(time.RFC3339), pod.Annotations[v1alpha1.SidecarSetHashAnnotation]
				pod.Annotations[v1alpha1.SidecarSetHashAnnotation] = strings.ReplaceAll(text, w.Now.UTC().Format(time.RFC3339), at)
			}
			return w
		}},
		{"hot-settled", func(b *testing.B, n int) *world {
			w := newWorld(b, mesh)
			for i := range n {
				w.add(fmt.Sprintf("p%05d", i))
			}
			w.sync()
			return w
		}},
	} {
		planbench.Run(b, test.name, func(b *testing.B, n int) func() error {
			w := test.setUp(b, n)
			for _, pod := range w.Pods {
				if _, err := caches.Trim(pod); err != nil {
					b.Fatal(err)
				}
			}
			s := w.snapshot()
			return func() error {
				if p := NewPlan(s); len(p.Problems) > 0 {
					return fmt.Errorf("%v", p.Problems)
				}
				return nil
			}
		}, 50_000)
	}
}

// A settled SidecarSet costs no allocation per pod, whatever records its pods have.
func TestAllocations(t *testing.T) {
	settled := func(n int) float64 {
		w := newWorld(t, mesh)
		w.add("a")
		w.settle()
		w.image("mesh", "mesh:v2")
		w.settle()
		pod := w.Pods[0]
		for i := range n {
			w.Pods = append(w.Pods, pod.DeepCopy())
			w.Pods[i+1].Name = fmt.Sprint("p", i)
		}
		w.sync()
		s := w.snapshot()
		return testing.AllocsPerRun(5, func() {
			if plan := NewPlan(s); plan.Status != nil || len(plan.Patch) > 0 {
				t.Error(plan)
			}
		})
	}
	if few, many := settled(10), settled(510); many-few > 10 {
		t.Errorf("%.0f allocations for 10 pods, %.0f for 510", few, many)
	}
}

// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/caches"
)

// TestRefusedForEver counts the tries of a day in which each one writes something that a late cache shows later, and fails. (CT-1, CT-3)
func TestRefusedForEver(t *testing.T) {
	for _, lag := range []time.Duration{0, 8 * time.Millisecond, 60 * time.Millisecond, time.Second} {
		for _, own := range []bool{true, false} {
			t.Run(fmt.Sprintf("CT-3: lag %s, a queue of our own: %v", lag, own), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
					defer cancel()
					var tries []time.Duration
					var written time.Time
					start, writer := time.Now(), &apply.Writer{}
					r := newReconciler(Definition[snapshot, plan]{
						ControllerOptions: podwright.ControllerOptions{Clock: clock.RealClock{}},
						reads:             []Read{{Resource: caches.Pods}}, Writer: writer,
						synced: func(podwright.Resource) string {
							if time.Since(written) < lag {
								return "1"
							}
							return fmt.Sprint(1 + len(tries))
						},
						Observe: func(context.Context, types.NamespacedName) (*snapshot, error) { return &snapshot{}, nil },
						Plan:    func(*snapshot) *plan { return new(plan) },
						Apply: func(context.Context, *snapshot, *plan) (time.Duration, error) {
							tries, written = append(tries, time.Since(start)), time.Now()
							writer.Own.Wrote(web, caches.Pods, fmt.Sprint(1+len(tries)))
							if len(tries) == 1000 {
								cancel() // more show nothing new
							}
							return 0, errors.New("refused")
						},
					})
					config := loopConfig{Name: "test", reconcile: r.reconcile, waits: r.waits.Get}
					if !own {
						config.reconcile, config.waits = r.Reconcile, nil
					}
					loop := newLoop(config)
					loop.add(web)
					if err := runLoops(ctx, nothing(), loop); err != nil {
						t.Error(err)
					}
					hours := map[int]int{}
					for _, at := range tries {
						hours[int(at/time.Hour)]++
					}
					for hour := range 24 {
						if n := hours[hour]; n > 12 && !(hour == 0 && n <= 30) || n < 10 {
							t.Errorf("%d tries in hour %d", n, hour)
						}
					}
				})
			})
		}
	}
}

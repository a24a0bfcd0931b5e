// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/apiwriter"
)

// If there is no API server to ask, a reconcile goes on with what the cache has.
func TestWaitWithoutAServerToAsk(t *testing.T) {
	var own apiwriter.Store
	key := types.NamespacedName{Name: "node"}
	own.Wrote(key, "nodeimages", "7")
	synced := func(podwright.Resource) string { return "6" }
	start := time.Unix(0, 0)
	for _, test := range []struct {
		after time.Duration
		waits bool
	}{{0, true}, {staleLimit - time.Second, true}, {staleLimit, false}, {staleLimit + time.Hour, false}} {
		if wait, err := Wait(t.Context(), &own, key, synced, start.Add(test.after), nil); err != nil || (wait > 0) != test.waits {
			t.Errorf("after %v: again after %v, error %v", test.after, wait, err)
		}
	}
	own.Wrote(key, "nodeimages", "7")
	down := errors.New("connection refused")
	live := func(_ context.Context, _ string, _ podwright.Resource) (string, error) { return "", down }
	_, _ = Wait(t.Context(), &own, key, synced, start, live)
	if _, err := Wait(t.Context(), &own, key, synced, start.Add(staleLimit), live); !errors.Is(err, down) {
		t.Errorf("error %v", err)
	}
}

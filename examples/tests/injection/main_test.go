// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"strings"
	"testing"
	"time"
)

// A thousand pods are created while no controller and no webhook runs, and into every one all
// SidecarSets have injected what Inject computes, annotations included. (SCP-1, SCP-5)
func TestPodsAreInjectedWithoutAManager(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute) // the first start builds the control plane
	defer cancel()
	r, err := newBench(ctx, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := r.Control.Stop(); err != nil {
			t.Error(err)
		}
	}()
	of, err := r.measureSets(ctx, options{pods: 1000, parallel: 8}, byPolicies, 3, 3)
	if err != nil || of.injected != 1000 {
		t.Fatalf("%d of 1000 pods are injected, error %v", of.injected, err)
	}
	var table strings.Builder
	if err := printTable(&table, []result{of}); err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s", &table)
	// The same rig sees what a webhook injects.
	if of, err = r.measureSets(ctx, options{pods: 50, parallel: 8}, byWebhook, 2, 1); err != nil || of.injected != 50 {
		t.Errorf("%d of 50 pods are injected by the webhook, error %v", of.injected, err)
	}
}

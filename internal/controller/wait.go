// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/klog/v2"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/apiwriter"
)

// StaleRetry is how soon a reconcile looks again whether the cache has caught
// up with the last write. The look costs no request. The longer it waits, the less
// often it looks, down to mostStaleRetry.
const (
	StaleRetry     = 20 * time.Millisecond
	mostStaleRetry = 30 * time.Second
)

// staleBackOff makes a wait notice what it waits for after a tenth of its time.
const staleBackOff = 10

// staleLimit is how long a reconcile waits for a cache before it asks the API server
// how far it really is.
const staleLimit = 5 * time.Minute

// Newest asks the API server how far a resource has come in a namespace; empty
// if it cannot be asked.
type Newest func(ctx context.Context, namespace string, resource podwright.Resource) (resourceVersion string, err error)

// Wait returns how long a reconcile of an object has to wait for the caches to
// see what earlier reconciles wrote. It is 0 if it may start.
//
// After staleLimit it says so in the log, and asks the API server. If that is
// behind the write, as after a restore of its storage, a cache that has come
// that far is complete. A nil live, and one that cannot tell, makes the
// reconcile start on what the cache has.
func Wait(
	ctx context.Context, own *apiwriter.Store, key types.NamespacedName, synced apiwriter.Synced, now time.Time, live Newest,
) (time.Duration, error) {
	for {
		missing, err := own.Pending(key, synced, now)
		if err != nil || missing == (apiwriter.Missing{}) {
			return 0, err
		}
		if missing.For < staleLimit {
			klog.FromContext(ctx).V(4).Info("Waiting for the cache", "reason", missing.String())
			return staleRetry(missing), nil
		}
		reset, err := resetTo(ctx, key, missing, live)
		if err != nil {
			return 0, err
		}
		if reset == missing.Wrote {
			return staleRetry(missing), nil
		}
		own.Reset(key, missing.Resource, reset)
	}
}

// Again is how soon a reconcile that has stopped for what it found out looks at the caches again. If the object is gone, the event about
// its end brings the next reconcile: until then each look would cost the same requests again. (CT-3)
func Again(gone bool) time.Duration {
	if gone {
		return 0
	}
	return StaleRetry
}

func staleRetry(m apiwriter.Missing) time.Duration {
	return min(max(StaleRetry, m.For/staleBackOff), mostStaleRetry)
}

// resetTo returns the version to wait for instead of that of a write for which
// a reconcile has waited too long.
func resetTo(ctx context.Context, key types.NamespacedName, m apiwriter.Missing, live Newest) (string, error) {
	logger := klog.FromContext(ctx)
	version := ""
	if live != nil {
		var err error
		if version, err = live(ctx, key.Namespace, m.Resource); err != nil {
			return "", fmt.Errorf("%s, for %s: ask the API server how far it is: %w", m, m.For.Round(time.Second), err)
		}
	}
	if version == "" {
		logger.Error(nil, "The cache does not catch up, going on with what it has", "reason", m.String(), "waited", m.For)
		return "", nil
	}
	order, err := resourceversion.CompareResourceVersion(version, m.Wrote)
	if err != nil {
		return "", fmt.Errorf("%s, and the API server at %q: %w", m, version, err)
	}
	if order >= 0 {
		logger.Error(nil, "The cache does not catch up: is its watch broken?", "reason", m.String(), "waited", m.For)
		return m.Wrote, nil
	}
	logger.Error(nil, "The API server has gone back behind an own write, its storage was restored perhaps; going on from there",
		"reason", m.String(), "waited", m.For, "now", version)
	return version, nil
}

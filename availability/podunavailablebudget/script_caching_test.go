// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// caching is a CachedWebhook, beside the webhooks of a world, with the pods that its program shares.
type caching struct {
	*CachedWebhook
	shared             cache.SharedIndexInformer
	stop, stopsSharing func()
	lock               sync.Mutex
	changes            int // of the requests that it is to be asked about
}

// cached plays a step about a CachedWebhook. It tells whether it knows the step.
func (w *world) cached(words []string) (shown string, known bool) {
	c := w.caching
	switch words[0] {
	case "cached":
		w.caching = w.newCaching(words[1:])
	case "cached-runs":
		c.stop = w.Start(c.Run)
	case "cached-stops":
		c.stop()
		c.stop = nil
	case "missing":
		c.Missing()
	case "shares":
		c.SharePods(c.shared)
	case "shared-runs":
		c.stopsSharing = w.Start(fixture.Informing(c.shared))
	case "shared-stops":
		c.stopsSharing()
	case "watches":
		var resources []string
		for _, r := range w.Requests(fixture.ControllerUser) {
			if r.Verb == "watch" {
				resources = append(resources, r.Resource)
			}
		}
		slices.Sort(resources)
		return fmt.Sprint("watches ", resources), true
	case "keeps":
		return w.keeps(), true
	case "matches":
		return w.matches(), true
	default:
		return "", false
	}
	return "", true
}

func (w *world) newCaching(words []string) *caching {
	o := AdmissionOptions{Kubernetes: w.options.Kubernetes, Availability: w.options.Availability, Metrics: decisions{w.trace},
		Deletions: slices.Contains(words, "deletions"), Updates: slices.Contains(words, "updates"), NoPods: slices.Contains(words, "no-pods")}
	webhook, err := NewCachedWebhook(o)
	w.Must(err)
	c := &caching{CachedWebhook: webhook, shared: caches.NewInformers(w.options.Kubernetes, "").Pods()}
	w.Must(c.OnMatchChange(func() {
		c.lock.Lock()
		defer c.lock.Unlock()
		c.changes++
	}))
	w.ForgetRequests()
	return c
}

// keeps shows how many pods are cached, by the webhook itself or at all, and whether its caches are filled.
func (w *world) keeps() string {
	if w.caching.Pods == nil {
		return fmt.Sprint("no pods, synced ", w.caching.HasSynced())
	}
	known, err := w.caching.Pods.List(labels.Everything())
	w.Must(err)
	return fmt.Sprintf("%d pods itself, %d in all, synced %t", len(w.caching.kept.ListKeys()), len(known), w.caching.HasSynced())
}

// matches shows about which requests the webhook is to be asked, and how often that has changed since.
func (w *world) matches() string {
	ctx, cancel := context.WithTimeout(w.T.Context(), 1)
	defer cancel()
	expression, err := w.caching.MatchExpression(ctx)
	w.caching.lock.Lock()
	defer w.caching.lock.Unlock()
	changes := w.caching.changes
	w.caching.changes = 0
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("after %d changes it is asked about %s", changes, expression)
}

// end stops what runs.
func (w *world) end() {
	w.stop()
	if c := w.caching; c != nil && c.stop != nil {
		c.stop()
	}
}

// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"context"

	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// CachedInjector is an Injector with the AdmissionCaches that it reads: a podwebhook.Step. NewCachedInjector makes one. It is
// an AdmissionReader too, for a Webhook.
type CachedInjector struct {
	Injector
	*AdmissionCaches
}

// NewCachedInjector returns one whose caches are not yet running.
func NewCachedInjector(o AdmissionOptions) (*CachedInjector, error) {
	if o.MatchExpression == nil {
		o.MatchExpression = MatchExpression
	}
	read, err := NewAdmissionCaches(o)
	if err != nil {
		return nil, err
	}
	return &CachedInjector{Injector{Reader: read, Metrics: o.Metrics, Recorder: o.Recorder, Injection: o.Injection}, read}, nil
}

// MatchExpression is that of the SidecarSets that there are now. It waits until the caches are filled; an error says that
// the context ended before. (SCS-W9)
func (c *CachedInjector) MatchExpression(ctx context.Context) (string, error) {
	sets, err := c.SidecarSets(ctx)
	if err != nil {
		return "", err
	}
	return c.options.MatchExpression(sets), nil
}

// OnMatchChange has a function called, by a goroutine of the informer, when a SidecarSet comes, goes, or changes but for its
// status.
func (c *CachedInjector) OnMatchChange(changed func()) error {
	sets, _, _ := c.informers()
	return caches.OnChange(sets, func(object any) int64 {
		if set, ok := object.(*v1alpha1.SidecarSet); ok {
			return set.Generation
		}
		return 0
	}, changed)
}

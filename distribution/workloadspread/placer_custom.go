// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"cmp"
	"context"
	"fmt"
	"maps"

	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
)

// customCaches are what a Placer has found out about the kinds of a white list: options with these kinds, and their caches.
type customCaches struct {
	options *Options
	synced  []cache.InformerSynced
}

// known are the options with the kinds of the white list, as soon as these are known.
func (p *Placer) known() *Options {
	if custom, there := p.custom.Now(); there {
		return custom.options
	}
	return &p.options
}

// findCustom finds the kinds of the white list that are served and may be read.
func findCustom(ctx context.Context, o *Options) ([]CustomKind, error) {
	list, err := AwaitWhitelist(ctx, o.Kubernetes, o.ConfigNamespace)
	if err != nil {
		return nil, err
	}
	return CustomKinds(ctx, o.Kubernetes, list, o.Namespace)
}

// runCustom finds the kinds of the white list once there is a WorkloadSpread, and runs their informers. (WS-35)
func (p *Placer) runCustom(ctx context.Context) error {
	select {
	case <-p.first:
	case <-ctx.Done():
		return nil
	}
	o := p.options
	bounded, end := context.WithTimeout(ctx, cmp.Or(o.CacheSyncTimeout, controller.CacheSyncTimeout))
	defer end()
	var err error
	o.Custom, err = p.findCustom(bounded, &o)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: the kinds of the white list are not known: %w", placerName, err)
	}
	reads := o.readCustom()
	sources, err := controller.Open("workloadspread", reads)
	if err != nil {
		return err
	}
	reader := caches.Reader{}
	if shared, is := o.Reader.(caches.Reader); is {
		maps.Copy(reader, shared)
	}
	maps.Copy(reader, sources.Caches())
	o.Reader = reader
	filling := sources.Filling(placerName, o.CacheSyncTimeout)
	p.custom.Set(&customCaches{options: &o, synced: sources.Synced()})
	p.matchChanged()
	return filling.Run(ctx, nil)
}

// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"context"
	"errors"

	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/distribution/spread"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/internal/caches"
)

// MatchExpression returns a CEL expression for the WorkloadSpreads that there are now. It is true of the new pods
// which Mutate has to be asked about, and of some others. It is "false" if there are none. It waits until the
// cache of WorkloadSpreads is filled; an error says that the context ended before. (WS-26)
func (p *Placer) MatchExpression(ctx context.Context) (string, error) {
	if !cache.WaitForCacheSync(ctx.Done(), p.options.Spreads.HasSynced) {
		return "", errors.New("the cache of WorkloadSpreads is not filled yet; try again")
	}
	var all []admission.Controlled
	for _, object := range p.options.Spreads.GetStore().List() {
		of := controlled(object)
		if of.Kind.Kind != "" && !(spread.Whitelist{}).Allows(of.Kind) {
			if _, _, err := p.custom.Get(ctx); err != nil {
				return "", err
			}
		}
		all = append(all, p.known().controllers(of)...)
	}
	return admission.MatchControlled(all, p.placedAlready()), nil
}

// OnMatchChange has a function called, by a goroutine of the informer, when MatchExpression returns something else, and
// perhaps when it does not.
func (p *Placer) OnMatchChange(changed func()) error {
	p.changed.Store(&changed)
	return caches.OnChange(p.options.Spreads, controlled, changed)
}

// matchChanged tells that MatchExpression may return something else.
func (p *Placer) matchChanged() {
	if changed := p.changed.Load(); changed != nil {
		(*changed)()
	}
}

// controllers are what may control the pods of a workload of a kind: itself, or what may stand between. Nothing if the kind is not
// spread. (WS-26, WS-35)
func (o *Options) controllers(of admission.Controlled) (all []admission.Controlled) {
	switch {
	case !o.spreadsKind(of.Kind):
		return nil
	case of.Kind == spread.Deployments:
		return []admission.Controlled{{Namespace: of.Namespace, Kind: spread.ReplicaSets}}
	case (spread.Whitelist{}).Allows(of.Kind):
		return []admission.Controlled{of}
	}
	for _, kind := range o.between() {
		all = append(all, admission.Controlled{Namespace: of.Namespace, Kind: kind})
	}
	return all
}

// placedAlready is the group whose pods Mutate leaves as they are; empty for none.
func (p *Placer) placedAlready() string {
	if p.options.PlacedByWorkloads {
		return v1alpha1.GroupName
	}
	return ""
}

// controlled is the kind of workloads that a WorkloadSpread is about.
func controlled(object any) admission.Controlled {
	ws, _ := object.(*v1alpha1.WorkloadSpread)
	if ws == nil {
		return admission.Controlled{}
	}
	kind, _ := spread.KindOf(ws)
	return admission.Controlled{Namespace: ws.Namespace, Kind: kind}
}

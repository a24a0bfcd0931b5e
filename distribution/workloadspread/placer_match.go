// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/runtime/schema"
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
		all = append(all, controlled(object))
	}
	return admission.MatchControlled(all, p.placedAlready()), nil
}

// OnMatchChange has a function called, by a goroutine of the informer, when MatchExpression returns something else, and
// perhaps when it does not.
func (p *Placer) OnMatchChange(changed func()) error {
	return caches.OnChange(p.options.Spreads, controlled, changed)
}

// placedAlready is the group whose pods Mutate leaves as they are; empty for none.
func (p *Placer) placedAlready() string {
	if p.options.PlacedByWorkloads {
		return v1alpha1.GroupName
	}
	return ""
}

// controlled are the pods that a WorkloadSpread is about: those of a Deployment are controlled by its ReplicaSets. (WS-1)
func controlled(object any) admission.Controlled {
	ws, _ := object.(*v1alpha1.WorkloadSpread)
	if ws == nil {
		return admission.Controlled{}
	}
	kind, known := spread.KindOf(ws)
	if !known {
		kind = schema.GroupKind{}
	}
	if kind == spread.Deployments {
		kind = spread.ReplicaSets
	}
	return admission.Controlled{Namespace: ws.Namespace, Kind: kind}
}

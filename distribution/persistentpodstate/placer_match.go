// SPDX-License-Identifier: Apache-2.0

package persistentpodstate

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/internal/caches"
)

// MatchExpression returns a CEL expression for a match condition of the webhook of pods. It is true of the new pods
// which Mutate has to be asked about, by the PersistentPodStates that there are now, and of some others. It is "false"
// if there are none. It waits until the cache of PersistentPodStates is filled; an error says that the context ended
// before. (PPS-28)
func (p *Placer) MatchExpression(ctx context.Context) (string, error) {
	if !cache.WaitForCacheSync(ctx.Done(), p.options.States.HasSynced) {
		return "", errors.New("the cache of PersistentPodStates is not filled yet; try again")
	}
	leftOut := ""
	if p.options.PlacedByWorkloads {
		leftOut = v1alpha1.GroupName
	}
	var all []admission.Controlled
	for _, object := range p.options.States.GetStore().List() {
		all = append(all, controlled(object))
	}
	return admission.MatchControlled(all, leftOut), nil
}

// OnMatchChange has a function called, by a goroutine of the informer, when MatchExpression returns something else, and
// perhaps when it does not.
func (p *Placer) OnMatchChange(changed func()) error {
	return caches.OnChange(p.options.States, controlled, changed)
}

// controlled are the pods that a PersistentPodState is about. (PPS-1)
func controlled(object any) admission.Controlled {
	s, _ := object.(*v1alpha1.PersistentPodState)
	if s == nil {
		return admission.Controlled{}
	}
	target := s.Spec.TargetReference
	return admission.Controlled{Namespace: s.Namespace, Kind: schema.FromAPIVersionAndKind(target.APIVersion, target.Kind).GroupKind()}
}

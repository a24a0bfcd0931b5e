// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"context"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// TestSimulationOfWebhooks has two replicas of the webhook inject into new pods, each with caches and restarts of its own. So pods
// are created of revisions that are past, and while some replica has not heard of the SidecarSet or of its end. Webhooks of others
// change the pods after that.
func TestSimulationOfWebhooks(t *testing.T) {
	simulation.Check(t, admitted(bug{}, nil))
}

// admitted is what a simulation needs to know of SidecarSets, whose controllers have a bug, and whose webhooks read spoilt caches.
func admitted(bug bug, spoil func(AdmissionReader) AdmissionReader) *simulation.Subject {
	w := simulated(bug)
	inject := injecting{func(u *simulation.User, pod *corev1.Pod) *corev1.Pod {
		request := &admissionv1.AdmissionRequest{Operation: admissionv1.Create, Namespace: simulation.Web.Namespace, Object: runtime.RawExtension{Object: pod}}
		if !u.Admit(request).Allowed {
			return nil
		}
		return pod
	}}
	w.Populate, w.Others = inject.populate, inject.actOthers
	w.Webhooks, w.OnlyCreations, w.Injected, w.Rewritten, w.Mirrored = 2, true, true, true, true
	w.StartWebhook = func(p *simulation.Process) (simulation.Webhook, error) { return startInjector(p, spoil) }
	return w
}

// startInjector starts a replica of the webhook, which judges what it injects by what its caches hold.
func startInjector(p *simulation.Process, spoil func(AdmissionReader) AdmissionReader) (simulation.Webhook, error) {
	o := AdmissionOptions{ManagerNamespace: DefaultRevisionNamespace,
		SidecarSets: p.Informer("sidecarsets"), Namespaces: p.Informer("namespaces"), Revisions: p.Informer("controllerrevisions")}
	reads := o.reads()
	cached := controller.Caches(reads)
	for _, read := range reads {
		if err := cached.Open(read.Resource, nil, read.Indexes...); err != nil {
			return nil, err
		}
	}
	var reader AdmissionReader = &AdmissionCaches{options: o, sources: &controller.Sources{}, reader: cached} // which need not be filled
	if spoil != nil {
		reader = spoil(reader)
	}
	injector := &Injector{Reader: reader}
	past := invariants.NewPast()
	past.Sidecars = invariants.SidecarContract{Default: injection.Features{}.Default, Hashes: hashesOf}
	return func(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		pod := request.Object.Object.(*corev1.Pod)
		before := pod.DeepCopy()
		if err := injector.Mutate(ctx, request, pod); err != nil {
			return admission.Errored(err)
		}
		p.Violates(past.SidecarSetInjected(p.Cached(), before, pod)...)
		return admission.Allowed()
	}, nil
}

// spoilt is a reader of SidecarSets that a bug changes.
type spoilt struct {
	AdmissionReader
	change func([]*v1alpha1.SidecarSet)
}

func (r spoilt) SidecarSetsFor(ctx context.Context, namespace string, labels map[string]string) ([]*v1alpha1.SidecarSet, error) {
	sets, err := r.AdmissionReader.SidecarSetsFor(ctx, namespace, labels)
	r.change(sets)
	return sets, err
}

// TestSimulationFindsBugsOfWebhooks plants bugs, each of which a few seeds must find.
func TestSimulationFindsBugsOfWebhooks(t *testing.T) {
	plant := simulation.Plant(t, func(spoil func(AdmissionReader) AdmissionReader) *simulation.Subject { return admitted(bug{}, spoil) })
	plant("a replica goes on with what it read first", invariants.InPlace, 0, func(r AdmissionReader) AdmissionReader {
		var first *v1alpha1.SidecarSet
		return spoilt{r, func(sets []*v1alpha1.SidecarSet) {
			if len(sets) > 0 {
				if first == nil {
					first = sets[0]
				}
				sets[0] = first
			}
		}}
	})
	plant("a replica records no revision", invariants.History, 0, func(r AdmissionReader) AdmissionReader {
		return spoilt{r, func(sets []*v1alpha1.SidecarSet) {
			for i, set := range sets {
				sets[i] = set.DeepCopy()
				sets[i].Status.LatestRevision = ""
			}
		}}
	})
}

func hashesOf(set *v1alpha1.SidecarSet) (containers, withoutImage string, err error) {
	hashes, err := injection.HashesOf(set)
	return hashes.Containers, hashes.WithoutImage, err
}

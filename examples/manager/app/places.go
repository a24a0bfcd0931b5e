// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/component-base/featuregate"

	distributionclient "github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/persistentpodstate"
	"github.com/podwright/podwright/distribution/spread"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/distribution/workloadspread"
	"github.com/podwright/podwright/examples/process/crds"
	"github.com/podwright/podwright/examples/process/features"
	"github.com/podwright/podwright/examples/process/permissions"
	"github.com/podwright/podwright/lifecycle/podwebhook"
	"github.com/podwright/podwright/workloads"
)

// places are what the webhook of pods knows, in every replica, of where the pods go of workloads that do not place them
// themselves, as CloneSets and StatefulSets of apps.kruise.io do.
type places struct {
	client    distributionclient.Interface
	core      kubernetes.Interface
	namespace string   // that the manager works in
	all       []*place // of the gates that are open
	// spreads is nil where its gate is closed.
	spreads, states *place
}

// place is what the objects of one kind say of where pods go. While its CRD is not installed they say nothing.
type place struct {
	*known[podwebhook.Mutator]
	resource schema.GroupVersionResource
	objects  cache.SharedIndexInformer
	rules    []rbacv1.PolicyRule
	// placer returns what places pods, and what reads for it.
	placer func(context.Context) (podwebhook.Mutator, func(context.Context) error, error)
	// controls is what controls the pods that an object is about; empty where it is about none.
	controls func(object any) schema.GroupKind
}

// newPlaces returns what is not known yet. Nothing is asked of the API server.
func newPlaces(config *rest.Config, core kubernetes.Interface, gates featuregate.FeatureGate, namespace, ownNamespace string) (*places, error) {
	client, err := distributionclient.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	p := &places{client: client, core: core, namespace: namespace}
	byNamespace := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	spreads := workloadspread.Options{Kubernetes: core, Distribution: client, Namespace: namespace,
		Spreads: distributionclient.NewWorkloadSpreadInformer(client, namespace, 0, byNamespace)}
	states := persistentpodstate.PlacerOptions{Kubernetes: core, Distribution: client, Namespace: namespace,
		States: distributionclient.NewPersistentPodStateInformer(client, namespace, 0, byNamespace)}
	if gates.Enabled(features.WorkloadSpread) {
		p.spreads = &place{known: newKnown[podwebhook.Mutator]("WorkloadSpreads"), resource: workloadSpreadsResource, objects: spreads.Spreads,
			controls: spreadControls, rules: workloadspread.PlacerRules(spreads),
			placer: func(context.Context) (podwebhook.Mutator, func(context.Context) error, error) {
				placer, err := workloadspread.NewPlacer(spreads)
				return placer.Mutate, placer.Run, err
			}}
		p.all = append(p.all, p.spreads)
	}
	p.states = &place{known: newKnown[podwebhook.Mutator]("PersistentPodStates"), resource: persistentPodStatesResource, objects: states.States,
		controls: stateControls, rules: (&persistentpodstate.Placer{}).Rules(),
		placer: func(ctx context.Context) (_ podwebhook.Mutator, _ func(context.Context) error, err error) {
			if states.Kinds, err = whiteList(ctx, core, ownNamespace); err != nil {
				return nil, nil, err
			}
			placer, err := persistentpodstate.NewPlacer(states)
			return placer.Mutate, placer.Run, err
		}}
	p.all = append(p.all, p.states)
	for _, one := range p.all {
		if err := one.objects.SetTransform(workloads.Trim); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// spreadControls: the pods of a Deployment are controlled by its ReplicaSets.
func spreadControls(object any) schema.GroupKind {
	ws, _ := object.(*v1alpha1.WorkloadSpread)
	if ws == nil {
		return schema.GroupKind{}
	}
	kind, known := spread.KindOf(ws)
	switch {
	case !known:
		return schema.GroupKind{}
	case kind == spread.Deployments:
		return spread.ReplicaSets
	}
	return kind
}

func stateControls(object any) schema.GroupKind {
	s, _ := object.(*v1alpha1.PersistentPodState)
	if s == nil {
		return schema.GroupKind{}
	}
	return schema.FromAPIVersionAndKind(s.Spec.TargetReference.APIVersion, s.Spec.TargetReference.Kind).GroupKind()
}

// permissions are those of the caches.
func (p *places) permissions() (inCluster, where permissions.Part) {
	where.Namespace = p.namespace
	for _, one := range p.all {
		for _, rule := range one.rules {
			if slices.Contains(withoutNamespace, rule.Resources[0]) {
				inCluster.Rules = append(inCluster.Rules, rule)
			} else {
				where.Rules = append(where.Rules, rule)
			}
		}
	}
	return inCluster, where
}

// run reads as soon as the kinds are served, until the context is done. What pods are placed by has changed when changed is
// called.
func (p *places) run(ctx context.Context, changed func()) error {
	var running sync.WaitGroup
	defer running.Wait()
	failed := make(chan error, len(p.all))
	for _, one := range p.all {
		running.Go(func() {
			if err := one.run(ctx, p.core, changed); err != nil && ctx.Err() == nil {
				failed <- err
			}
		})
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-failed:
		return err
	}
}

func (p *place) run(ctx context.Context, core kubernetes.Interface, changed func()) error {
	resources := discovery.ToDiscoveryInterfaceWithContext(core.Discovery())
	if err := crds.Await(ctx, resources, p.resource, lookAgain, p.missing); err != nil {
		return err
	}
	mutate, read, err := p.placer(ctx)
	if err != nil {
		return err
	}
	if _, err := p.objects.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { changed() }, DeleteFunc: func(any) { changed() },
		UpdateFunc: func(before, after any) {
			if p.controls(before) != p.controls(after) {
				changed()
			}
		},
	}); err != nil {
		return err
	}
	p.set(mutate)
	var running sync.WaitGroup
	running.Go(func() { p.objects.RunWithContext(ctx) })
	err = read(ctx)
	running.Wait()
	return err
}

// mutate is a step of the webhook of pods.
func (p *place) mutate(ctx context.Context, request *admissionv1.AdmissionRequest, pod *corev1.Pod) error {
	mutate, err := p.get(ctx)
	if err != nil || mutate == nil || placesItself(pod) {
		return err
	}
	return (*mutate)(ctx, request, pod)
}

// placesItself tells whether what controls a pod has placed it.
func placesItself(pod *corev1.Pod) bool {
	ref := metav1.GetControllerOfNoCopy(pod)
	return ref != nil && strings.HasPrefix(ref.APIVersion, v1alpha1.GroupName+"/")
}

// expression is true of the new pods that are perhaps placed; "false" for none.
func (p *places) expression(ctx context.Context) (string, error) {
	var all []string
	for _, one := range p.all {
		some, err := one.expressions(ctx)
		if err != nil {
			return "", err
		}
		all = append(all, some...)
	}
	slices.Sort(all)
	if all = slices.Compact(all); len(all) == 0 {
		return "false", nil
	}
	return "has(object.metadata.ownerReferences) && object.metadata.ownerReferences.exists(o, has(o.controller) && o.controller && !o.apiVersion.startsWith('" +
		v1alpha1.GroupName + "/') && (request.namespace + '/' + o.kind) in [" + strings.Join(all, ", ") + "])", nil
}

// expressions are the namespaces and kinds of controllers whose pods are perhaps placed.
func (p *place) expressions(ctx context.Context) (all []string, err error) {
	if placer, err := p.get(ctx); placer == nil || err != nil {
		return nil, err
	}
	if !cache.WaitForCacheSync(ctx.Done(), p.objects.HasSynced) {
		return nil, fmt.Errorf("the cache of %s is not filled yet; try again", p.what)
	}
	for _, object := range p.objects.GetStore().List() {
		kind := p.controls(object)
		if kind.Kind == "" || kind.Group == v1alpha1.GroupName {
			continue
		}
		if meta, ok := object.(metav1.Object); ok {
			all = append(all, fmt.Sprintf("'%s/%s'", meta.GetNamespace(), strings.Map(wordsOnly, kind.Kind)))
		}
	}
	return all, nil
}

// wordsOnly keeps what the name of a kind consists of: what else stands there must not end the text.
func wordsOnly(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
		return r
	}
	return -1
}

// SPDX-License-Identifier: Apache-2.0

package persistentpodstate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/podstate"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/manifests"
)

// PlacerOptions says what a Placer works with. Kubernetes and Distribution are required.
type PlacerOptions struct {
	// Kubernetes reads nodes.
	Kubernetes kubernetes.Interface
	// Distribution reads PersistentPodStates, which must be served.
	Distribution client.Interface
	// Namespace restricts the informer of PersistentPodStates that NewPlacer makes itself. Default: all namespaces.
	Namespace string
	// States and Nodes are informers that the caller shares and runs. NewPlacer adds indexes to them, so they must
	// not have been started before. If one is nil, it makes its own.
	States, Nodes cache.SharedIndexInformer
	// Kinds are the kinds of the white list, whose pods are placed as well. Default: none, or those that ConfigNamespace
	// leads to.
	Kinds podstate.Whitelist
	// CacheSyncTimeout is how long Run waits until the caches are filled, before it returns an error. Default 2 minutes.
	CacheSyncTimeout time.Duration
	// ConfigNamespace is the namespace of the manager, where Run reads the white list: AwaitWhitelist does. Until then no
	// pod is placed and none is let through. Default: no white list is read, and Run need not be called if States and Nodes
	// are given.
	ConfigNamespace string
	// RestoreAnnotations gives pods back the annotations of persistentPodAnnotations that the pod of their name had, unless they have
	// one of the key. Default false, as in every release of OpenKruise: they are recorded, and not given back. (PPS-35)
	RestoreAnnotations bool
	// PlacedByWorkloads has Mutate leave pods as they are whose controllers are of the group apps.kruise.io: these place
	// their pods as they create them, by PlacePod. Default: it places them as well. (PPS-28)
	PlacedByWorkloads bool
}

// Placer sends pods that are created to the nodes on which those of their names ran before. It reads caches and writes nothing.
// NewPlacer makes one. It may be used by many goroutines.
//
// It is a Placement of package workloads, for workloads that place their pods as they create them, and a podwebhook.Step,
// for all others. Both together do no more than one of them. (PPS-16)
type Placer struct {
	options PlacerOptions
	filling *controller.Filling
	reader  caches.Reader
	kinds   *admission.Known[podstate.Whitelist] // whose pods are placed
}

// NewPlacer returns a Placer. The informers that it makes itself are not yet running.
func NewPlacer(o PlacerOptions) (*Placer, error) {
	if err := controller.Check("persistentpodstate").KindClient("Distribution", "distribution", o.Distribution != nil).
		That(o.Kubernetes != nil, "Options.Kubernetes is nil: it needs a clientset, kubernetes.NewForConfig makes one").Err(); err != nil {
		return nil, err
	}
	sources, err := controller.Open("persistentpodstate", o.reads())
	if err != nil {
		return nil, err
	}
	p := &Placer{options: o, filling: sources.Filling(placerName, o.CacheSyncTimeout), reader: sources.Caches(),
		kinds: admission.NewKnown[podstate.Whitelist]("which kinds the white list has")}
	if o.ConfigNamespace == "" {
		p.kinds.Set(o.Kinds)
	}
	return p, nil
}

func (o *PlacerOptions) reads() []controller.Read {
	return []controller.Read{
		{Resource: resourceStates, Object: &v1alpha1.PersistentPodState{}, Informer: &o.States, Indexes: []podwright.Index{caches.ByNamespace},
			MakeInformer: controller.Maker(client.NewPersistentPodStateInformer, o.Distribution, o.Namespace)},
		{Resource: resourceNodes, Object: &corev1.Node{}, Informer: &o.Nodes, MakeInformer: caches.NewInformers(o.Kubernetes, "").Nodes},
	}
}

// placerName stands in logs and errors.
const placerName = "persistentpodstate-placer"

// Run runs the informers that NewPlacer made until the context is done, and waits for them. Once the caches are filled it reads the
// white list, if it is to. What it returns, and when, is as with podwright.Controller: an error also if the white list cannot be
// read in the time for caches. It can be called once, and need not be called if all informers are shared and no white list is read.
func (p *Placer) Run(ctx context.Context) error { return p.filling.Run(ctx, p.readKinds) }

// readKinds reads the white list.
func (p *Placer) readKinds(ctx context.Context) error {
	if p.options.ConfigNamespace == "" {
		return nil
	}
	bounded, end := context.WithTimeout(ctx, cmp.Or(p.options.CacheSyncTimeout, controller.CacheSyncTimeout))
	defer end()
	list, err := AwaitWhitelist(bounded, p.options.Kubernetes, p.options.ConfigNamespace)
	if err != nil {
		return fmt.Errorf("%s: the white list is not read: %w", placerName, err)
	}
	p.kinds.Set(append(slices.Clone(p.options.Kinds), list...))
	return nil
}

// HasSynced tells whether the caches have been filled, and the white list has been read.
func (p *Placer) HasSynced() bool { return p.kinds.IsKnown() && p.filling.HasSynced() }

// Rules returns the RBAC rules that a Placer needs, and none beyond; NamespaceRules returns the others. Reading shared
// informers counts, whether or not the Placer runs them.
func (p *Placer) Rules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		manifests.Rule(v1alpha1.GroupName, "persistentpodstates", "list watch"),
		manifests.Rule("", "nodes", "list watch"),
	}
}

// NamespaceRules returns the RBAC rules that a Placer needs in the namespace of the white list, for a Role there.
// There are none if no white list is read.
func (p *Placer) NamespaceRules() (namespace string, rules []rbacv1.PolicyRule) {
	if p.options.ConfigNamespace == "" {
		return "", nil
	}
	return p.options.ConfigNamespace, WhitelistRules()
}

// PlacePod returns what to create for a pod: itself, or a copy that asks for the node to which it returns. It waits until
// the caches are filled, as long as the context allows; an error says that they are not. (PPS-11)
func (p *Placer) PlacePod(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	placement, err := p.explain(ctx, pod.Namespace, pod)
	if err != nil {
		return nil, err
	}
	return placement.Pod, nil
}

// Mutate places a pod of a request. It is a step of podwebhook.Webhook: PersistentPodState. An error refuses the pod,
// with the code 500. (PPS-27, PPS-28)
func (p *Placer) Mutate(ctx context.Context, request *admissionv1.AdmissionRequest, pod *corev1.Pod) error {
	if request.Operation != admissionv1.Create || p.options.PlacedByWorkloads && controlledBy(pod).Group == v1alpha1.GroupName {
		return nil
	}
	namespace := pod.Namespace
	if namespace == "" {
		namespace = request.Namespace
	}
	placement, err := p.explain(ctx, namespace, pod)
	if err != nil {
		return apierrors.NewInternalError(fmt.Errorf("find the node on which the pod ran: %w", err))
	}
	if placement.Changed() {
		*pod = *placement.Pod
	}
	return nil
}

// explain says what is done to a pod of a namespace, and why not more. The pod is not changed.
func (p *Placer) explain(ctx context.Context, namespace string, pod *corev1.Pod) (*podstate.Placement, error) {
	if placed, err := p.places(ctx, pod); !placed {
		return podstate.Place(nil, pod, nil), err
	}
	if !cache.WaitForCacheSync(ctx.Done(), p.options.States.HasSynced, p.options.Nodes.HasSynced) {
		return nil, errors.New("the caches of PersistentPodStates and nodes are not filled yet; try again")
	}
	return p.placed(namespace, pod)
}

// placed says what is done to a pod by what the caches hold now.
func (p *Placer) placed(namespace string, pod *corev1.Pod) (*podstate.Placement, error) {
	states, err := caches.All[*v1alpha1.PersistentPodState](p.reader, resourceStates, namespace)
	if err != nil {
		return nil, err
	}
	of := podstate.For(states, pod)
	placement := podstate.Place(of, pod, podstate.NodesOf(p.node, p.nodes))
	if p.options.RestoreAnnotations {
		placement.Restore(of)
	}
	return placement, nil
}

// places tells whether a pod is of a workload whose pods are placed. (PPS-2)
func (p *Placer) places(ctx context.Context, pod *corev1.Pod) (bool, error) {
	kind := controlledBy(pod)
	if kind.Kind == "" || (podstate.Whitelist{}).Allows(kind) {
		return kind.Kind != "", nil
	}
	list, _, err := p.kinds.Get(ctx)
	return list.Allows(kind), err
}

// controlledBy is the kind of a pod's controller; empty if it has none that can be read.
func controlledBy(pod *corev1.Pod) schema.GroupKind {
	ref := metav1.GetControllerOfNoCopy(pod)
	if ref == nil {
		return schema.GroupKind{}
	}
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil {
		return schema.GroupKind{}
	}
	return schema.GroupKind{Group: gv.Group, Kind: ref.Kind}
}

func (p *Placer) node(name string) *corev1.Node {
	return caches.Node(p.reader, name)
}

func (p *Placer) nodes() []*corev1.Node {
	nodes, err := caches.AllNodes(p.reader)
	if err != nil {
		return nil // an informer without an index by namespace lists all the same
	}
	return nodes
}

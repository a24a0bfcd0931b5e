// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"context"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/internal/whitelist"
	"github.com/podwright/podwright/distribution/spread"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/typedclient"
	"github.com/podwright/podwright/internal/workload"
)

// CustomKind is a kind of the white list, or one of which objects stand between workloads of such a kind and their pods. (WS-35)
type CustomKind struct {
	// Kind is the kind, Resource the plural name by which the API server serves it. Both are required.
	Kind     schema.GroupVersionKind
	Resource string
	// Between says that a WorkloadSpread may not name the kind. Default: it may.
	Between bool
	// ReplicasPath leads to the field that says how many pods it wants, as a path of targetFilter. Default: spec.replicas.
	ReplicasPath string
	// Informer is one of its objects, as *unstructured.Unstructured, which the caller shares and runs. Default nil: the
	// controller makes and runs its own, of Options.Dynamic.
	Informer cache.SharedIndexInformer
}

func (k *CustomKind) groupResource() schema.GroupResource {
	return schema.GroupResource{Group: k.Kind.Group, Resource: k.Resource}
}

// CustomRules returns the RBAC rules that workloads of further kinds take, each named by resource and group. (WS-35)
func CustomRules(resources ...schema.GroupResource) []rbacv1.PolicyRule {
	return whitelist.KindRules(resources...)
}

// WhitelistRules returns the RBAC rules for a Role in the namespace of the white list that reading it takes.
func WhitelistRules() []rbacv1.PolicyRule { return whitelist.Rules() }

// ReadWhitelist reads the white list from the API server; nil if there is none. It takes WhitelistRules. (WS-35)
func ReadWhitelist(ctx context.Context, client kubernetes.Interface, namespace string) (spread.Whitelist, error) {
	return whitelist.Read(ctx, client, namespace, spread.ReadWhitelist)
}

// AwaitWhitelist is ReadWhitelist for the start of a program. It waits for an API server that does not answer, and goes without
// a white list that is none, which the log says. It returns an error only when the context is done.
func AwaitWhitelist(ctx context.Context, client kubernetes.Interface, namespace string) (spread.Whitelist, error) {
	return whitelist.Await(ctx, client, namespace, spread.ReadWhitelist)
}

// CustomKinds returns what Options.Custom takes. Of a white list these are the kinds that the API server serves, and
// that the client's user may list and watch in a namespace. An empty namespace stands for all. Of the others, whose
// caches would never be filled, the log says why they are left out. It takes no rule that not every user has. (WS-35)
func CustomKinds(ctx context.Context, client kubernetes.Interface, list spread.Whitelist, namespace string) (kinds []CustomKind, err error) {
	seen := map[schema.GroupKind]bool{}
	add := func(kind CustomKind) error {
		if seen[kind.Kind.GroupKind()] || (spread.Whitelist{}).Allows(kind.Kind.GroupKind()) {
			return nil // it is known anyway
		}
		seen[kind.Kind.GroupKind()] = true
		kind.Resource, err = whitelist.Resource(ctx, client, kind.Kind, namespace, "WorkloadSpreads")
		if err == nil && kind.Resource != "" {
			kinds = append(kinds, kind)
		}
		return err
	}
	for i := range list {
		if err := add(CustomKind{Kind: list[i].GroupVersionKind, ReplicasPath: list[i].ReplicasPath}); err != nil {
			return nil, err
		}
	}
	for i := range list {
		for _, between := range list[i].Between {
			if err := add(CustomKind{Kind: between, Between: true}); err != nil {
				return nil, err
			}
		}
	}
	return kinds, nil
}

// readCustom are the reads of the kinds of Custom.
func (o *Options) readCustom() (reads []controller.Read) {
	for i := range o.Custom {
		c := &o.Custom[i]
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(c.Kind)
		reads = append(reads, controller.Read{
			Resource: podwright.Resource(c.groupResource().String()), Object: object, Informer: &c.Informer, MakeInformer: func() cache.SharedIndexInformer {
				return typedclient.NewInformer(o.Dynamic.Resource(c.groupResource().WithVersion(c.Kind.Version)).Namespace(o.Namespace), o.Dynamic, &unstructured.Unstructured{}, 0, cache.Indexers{})
			}, Indexes: []podwright.Index{caches.ByOwner}, Fields: workloadFields | controller.Status, Concern: o.workloadChanged, ConcernsKnown: true, CollectEvents: true, SkipInitial: true,
		})
	}
	return reads
}

// custom is the entry of a kind; nil for one that is not among them.
func (o *Options) custom(kind schema.GroupKind) *CustomKind {
	for i := range o.Custom {
		if o.Custom[i].Kind.GroupKind() == kind {
			return &o.Custom[i]
		}
	}
	return nil
}

// spreadsKind tells whether workloads of a kind are spread. (WS-1, WS-35)
func (o *Options) spreadsKind(kind schema.GroupKind) bool {
	c := o.custom(kind)
	return (spread.Whitelist{}).Allows(kind) || c != nil && !c.Between
}

// customOf reads a workload of a kind of Custom; nil for one of another kind.
func (o *Options) customOf(object *unstructured.Unstructured) *cached {
	c := o.custom(object.GroupVersionKind().GroupKind())
	if c == nil {
		return nil
	}
	w := workload.As(object.GroupVersionKind(), object)
	found := newWorkload(w, object)
	path := c.ReplicasPath
	if path == "" {
		path = "spec.replicas"
	}
	wants, err := spread.ReplicasAt(object.Object, path)
	if found.Replicas = new(int32(wants)); err != nil {
		found.Unknown = fmt.Errorf("%s %s does not say at %s how many pods it wants: %w", w.Kind, w.Name, path, err)
	}
	return found
}

// addOwned has a workload of a kind of Custom own the pods of what it controls, and of what that controls. It reads both in
// the caches. (WS-35)
func (o *Options) addOwned(namespace string, w *cached) error {
	seen, level := map[types.UID]bool{w.UID: true}, w.Owners
	for range workload.MostOwners {
		var next []types.UID
		for _, owner := range level {
			for _, kind := range o.between() {
				owned, err := caches.ControlledBy[metav1.Object](o.Reader, o.resourceOf(kind), namespace, owner)
				if err != nil && !isUnread(err) {
					return err
				}
				for _, object := range owned {
					if uid := object.GetUID(); !seen[uid] {
						seen[uid] = true
						next = append(next, uid)
					}
				}
			}
		}
		if len(next) == 0 {
			return nil
		}
		w.Owners, level = append(w.Owners, next...), next
	}
	return nil
}

// between are the kinds of which objects may stand between a workload of a kind of Custom and its pods.
func (o *Options) between() (kinds []schema.GroupKind) {
	for _, kind := range workload.Kinds() {
		if kind.Spread {
			kinds = append(kinds, kind.GroupKind())
		}
	}
	for i := range o.Custom {
		kinds = append(kinds, o.Custom[i].Kind.GroupKind())
	}
	return kinds
}

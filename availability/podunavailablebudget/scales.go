// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/scale"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright/availability/budget"
	"github.com/podwright/podwright/internal/manifests"
	"github.com/podwright/podwright/internal/workload"
)

// Scales reads workloads of kinds that no informer is for. Its methods are called by several
// goroutines.
type Scales interface {
	// Workload returns a workload; nil if there is none of that name. The error is ErrNotRead if it cannot
	// be told what it wants. Then the Scales leave the kind alone, or it is not served, not in a
	// namespace, or has no scale subresource.
	Workload(ctx context.Context, namespace string, kind schema.GroupVersionKind, name string) (*budget.Workload, error)
}

// ErrNotRead says that a kind of workloads is not read. While a budget has to know what they want, none of
// its pods may be disrupted. (PUB-23)
var ErrNotRead = errors.New("no controller reads workloads of this kind, or it has no scale subresource")

// NewScales returns Scales that read metadata and scale subresources from the API server. They read the named
// resources; without any, every kind that is asked about. ScaleRules are the rights that it takes. The mapper knows
// the resources of kinds; one that follows discovery learns of new ones.
func NewScales(mapper meta.RESTMapper, scales scale.ScalesGetter, objects metadata.Interface, only ...schema.GroupResource) Scales {
	return &liveScales{mapper, scales, objects, only}
}

// NewScalesForConfig is NewScales for the API server that the configuration names.
func NewScalesForConfig(config *rest.Config, mapper meta.RESTMapper, only ...schema.GroupResource) (Scales, error) {
	objects, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	served, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	scales, err := scale.NewForConfig(config, mapper, dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(served))
	if err != nil {
		return nil, err
	}
	return NewScales(mapper, scales, objects, only...), nil
}

// ScaleRules returns the RBAC rules that NewScales needs for these resources: to get their objects, and their
// scale.
func ScaleRules(resources ...schema.GroupResource) (rules []rbacv1.PolicyRule) {
	for _, r := range resources {
		rules = append(rules, manifests.Rule(r.Group, r.Resource, "get"), manifests.Rule(r.Group, r.Resource+"/scale", "get"))
	}
	return rules
}

type liveScales struct {
	mapper  meta.RESTMapper
	scales  scale.ScalesGetter
	objects metadata.Interface
	only    []schema.GroupResource
}

func (l *liveScales) Workload(ctx context.Context, namespace string, kind schema.GroupVersionKind, name string) (*budget.Workload, error) {
	if len(l.only) > 0 && !slices.ContainsFunc(l.only, func(r schema.GroupResource) bool { return r.Group == kind.Group }) {
		return nil, ErrNotRead
	}
	mapping, err := l.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if meta.IsNoMatchError(err) {
		return nil, ErrNotRead
	}
	if err != nil {
		return nil, fmt.Errorf("find the resource of %s: %w", kind, err)
	}
	if len(l.only) > 0 && !slices.Contains(l.only, mapping.Resource.GroupResource()) {
		return nil, ErrNotRead
	}
	if mapping.Scope.Name() != meta.RESTScopeNameNamespace {
		return nil, ErrNotRead
	}
	object, err := l.objects.Resource(mapping.Resource).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	wants, err := l.scales.Scales(namespace).Get(ctx, mapping.Resource.GroupResource(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, ErrNotRead // or it went meanwhile, which the next look shows
	}
	if err != nil {
		return nil, fmt.Errorf("scale: %w", err)
	}
	var selector *metav1.LabelSelector
	if wants.Status.Selector != "" {
		// One that cannot be read is as good as none: budgets do without, and only their mirror needs it.
		selector, _ = metav1.ParseToLabelSelector(wants.Status.Selector)
	}
	w := workload.As(kind, object)
	w.Replicas, w.Selector = &wants.Spec.Replicas, selector
	return newWorkload(w), nil
}

// foreignLook is how often a workload without an informer is looked at, while a budget needs it.
// LookAgain is how often at most, if it has more pods than were known the last time. (PUB-23)
const (
	foreignLook = 10 * time.Second
	lookAgain   = time.Second
)

// scaleCache asks Scales about each workload once in foreignLook, however often its pods
// change, and once in lookAgain if they become more than it wants.
type scaleCache struct {
	scales Scales
	clock  clock.PassiveClock
	lock   sync.Mutex
	looks  map[scaleKey]look
}

type scaleKey struct {
	schema.GroupKind
	types.NamespacedName
}

// look is what was seen of a workload.
type look struct {
	workload *budget.Workload
	notRead  error // ErrNotRead
	at       time.Time
	pods     int // that were known then
}

// enough tells whether what was seen says what a workload with so many pods wants. One that has more than it wanted, and
// than were known then, was scaled since. One that was not there, or of another UID, may be there now.
func (l look) enough(uid types.UID, pods int) bool {
	wants := 0
	if l.workload != nil && (uid == "" || l.workload.UID == uid) {
		wants = int(l.workload.Wants())
	}
	return l.notRead != nil || pods <= max(wants, l.pods)
}

// look returns what was seen of a workload, which is known by its name, and after which time to look again. It has so many
// pods; if what was seen is not enough for these, it was seen a moment ago.
func (c *scaleCache) look(ctx context.Context, namespace string, kind schema.GroupVersionKind, name string, uid types.UID, pods int) (l look, again time.Duration, err error) {
	key := scaleKey{kind.GroupKind(), types.NamespacedName{Namespace: namespace, Name: name}}
	now := c.clock.Now()
	c.lock.Lock()
	l, found := c.looks[key]
	c.lock.Unlock()
	wait := foreignLook
	if found && !l.enough(uid, pods) {
		wait = lookAgain
	}
	if age := now.Sub(l.at); found && age < wait {
		return l, wait - age, l.notRead
	}
	w, err := c.scales.Workload(ctx, namespace, kind, name)
	if err != nil && !errors.Is(err, ErrNotRead) {
		return look{}, foreignLook, err
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	for key, old := range c.looks { // what was not asked about for a while is forgotten
		if now.Sub(old.at) > 2*foreignLook {
			delete(c.looks, key)
		}
	}
	if c.looks == nil {
		c.looks = map[scaleKey]look{}
	}
	l = look{workload: w, notRead: err, at: now, pods: pods}
	c.looks[key] = l
	return l, foreignLook, err
}

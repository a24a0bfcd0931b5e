// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/scale"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright/availability/budget"
)

// Scales reads workloads of kinds that no informer is for. Its methods are called by several
// goroutines.
type Scales interface {
	// Workload returns a workload; nil where there is none of that name, and where its kind is
	// not served or has no scale subresource.
	Workload(ctx context.Context, namespace string, kind schema.GroupVersionKind, name string) (*budget.Workload, error)
}

// NewScales returns Scales that read metadata and scale subresources from the API server: of every
// kind that is asked about "get" of both is needed. The mapper knows the resources of kinds; one
// that follows discovery learns of new ones.
func NewScales(mapper meta.RESTMapper, scales scale.ScalesGetter, objects metadata.Interface) Scales {
	return &liveScales{mapper, scales, objects}
}

type liveScales struct {
	mapper  meta.RESTMapper
	scales  scale.ScalesGetter
	objects metadata.Interface
}

func (l *liveScales) Workload(ctx context.Context, namespace string, kind schema.GroupVersionKind, name string) (*budget.Workload, error) {
	mapping, err := l.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("find the resource of %s: %w", kind, err)
	}
	if mapping.Scope.Name() != meta.RESTScopeNameNamespace {
		return nil, nil // such as the Node of a static pod
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
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("scale: %w", err)
	}
	var selector *metav1.LabelSelector
	if wants.Status.Selector != "" {
		// One that cannot be read is as good as none: budgets do without, and only their mirror needs it.
		selector, _ = metav1.ParseToLabelSelector(wants.Status.Selector)
	}
	return newWorkload(kind.GroupKind(), object, &wants.Spec.Replicas, selector), nil
}

// foreignLook is how often a workload without an informer is looked at, while a budget needs
// it. (PUB-23)
const foreignLook = 10 * time.Second

// scaleCache asks Scales about each workload once in foreignLook, however often its pods
// change.
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

type look struct {
	workload *budget.Workload
	at       time.Time
}

// workload returns a workload that is known by its name, and, where that is not empty, its
// UID.
func (c *scaleCache) workload(ctx context.Context, namespace string, kind schema.GroupVersionKind, name string, uid types.UID) (*budget.Workload, error) {
	key := scaleKey{kind.GroupKind(), types.NamespacedName{Namespace: namespace, Name: name}}
	now := c.clock.Now()
	c.lock.Lock()
	known, found := c.looks[key]
	c.lock.Unlock()
	another := uid != "" && known.workload != nil && known.workload.UID != uid
	if found && !another && now.Sub(known.at) < foreignLook {
		return known.workload, nil
	}
	w, err := c.scales.Workload(ctx, namespace, kind, name)
	if err != nil {
		return nil, err
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	for key, old := range c.looks { // what nobody has asked about for a while is forgotten
		if now.Sub(old.at) > 2*foreignLook {
			delete(c.looks, key)
		}
	}
	if c.looks == nil {
		c.looks = map[scaleKey]look{}
	}
	c.looks[key] = look{w, now}
	return w, nil
}

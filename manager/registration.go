// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/manifests"
)

// The rhythm: a change is answered after a second. Everything is looked at once a minute, and so is what cannot be written
// in the end. Two replicas that do not agree must not keep the API server busy. What one has to write again and again, it
// writes more and more seldom.
const (
	answer = time.Second
	resync = time.Minute
)

// RegistrationRules returns the RBAC rules that a program needs to keep the two configurations in order, and none beyond.
func RegistrationRules() (rules []rbacv1.PolicyRule) {
	for resource, name := range map[string]string{"mutatingwebhookconfigurations": MutatingName, "validatingwebhookconfigurations": ValidatingName} {
		named := manifests.Rule(admissionregistrationv1.GroupName, resource, "list watch update")
		named.ResourceNames = []string{name}
		rules = append(rules, manifests.Rule(admissionregistrationv1.GroupName, resource, "create"), named)
	}
	return rules
}

// registration reads and writes the two configurations.
type registration struct {
	client               kubernetes.Interface
	mutating, validating cache.SharedIndexInformer
}

func newRegistration(client kubernetes.Interface) *registration {
	a := client.AdmissionregistrationV1()
	return &registration{client,
		newInformer(MutatingName, &admissionregistrationv1.MutatingWebhookConfiguration{}, a.MutatingWebhookConfigurations()),
		newInformer(ValidatingName, &admissionregistrationv1.ValidatingWebhookConfiguration{}, a.ValidatingWebhookConfigurations()),
	}
}

// Watch has a function called whenever one of the two configurations has changed, also by a write of the program itself. It
// runs until the context is done, and waits for what it has started. It can be called once. RunWebhooks calls it.
func (s *Set) Watch(ctx context.Context, changed func()) error {
	handler := cache.ResourceEventHandlerFuncs{AddFunc: func(any) { changed() }, UpdateFunc: func(any, any) { changed() }, DeleteFunc: func(any) { changed() }}
	var running sync.WaitGroup
	for _, informer := range []cache.SharedIndexInformer{s.registration.mutating, s.registration.validating} {
		if _, err := informer.AddEventHandler(handler); err != nil {
			return err
		}
	}
	for _, informer := range []cache.SharedIndexInformer{s.registration.mutating, s.registration.validating} {
		running.Go(func() { informer.RunWithContext(ctx) })
	}
	running.Wait()
	return nil
}

// Register makes the two configurations what they should be for a target, once, and returns whether it has written. Watch must run: it
// reads them, and Register waits until that has happened, and for Conditions, as long as the context allows.
//
// A conflict is how replicas take turns: the next look sees what the other one has written.
func (s *Set) Register(ctx context.Context, target Target) (written bool, err error) {
	conditions, err := s.Conditions(ctx)
	if err != nil {
		return false, fmt.Errorf("what to be asked about: %w", err)
	}
	r := s.registration
	if !cache.WaitForCacheSync(ctx.Done(), r.mutating.HasSynced, r.validating.HasSynced) {
		return false, errors.New("the webhook configurations have not been read yet: they must be allowed to list and watch")
	}
	mutating, validating := s.Webhooks()
	b, a := builder{target, s.serves, conditions}, r.client.AdmissionregistrationV1()
	first, err := write(ctx, a.MutatingWebhookConfigurations(), r.mutating, &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: MutatingName}},
		func(c *admissionregistrationv1.MutatingWebhookConfiguration) error {
			return rebuild(&c.ObjectMeta, &c.Webhooks, mutating, b)
		})
	if err != nil {
		return first, err
	}
	second, err := write(ctx, a.ValidatingWebhookConfigurations(), r.validating, &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: ValidatingName}},
		func(c *admissionregistrationv1.ValidatingWebhookConfiguration) error {
			return rebuild(&c.ObjectMeta, &c.Webhooks, validating, b)
		})
	return first || second, err
}

// configurations are those of one kind, at the API server.
type configurations[C runtime.Object] interface {
	Create(context.Context, C, metav1.CreateOptions) (C, error)
	Update(context.Context, C, metav1.UpdateOptions) (C, error)
}

// write creates a configuration, or updates it if it differs. It returns whether it has written.
func write[C interface {
	runtime.Object
	metav1.Object
	DeepCopy() C
}](ctx context.Context, client configurations[C], informer cache.SharedIndexInformer, configuration C, rebuild func(C) error) (bool, error) {
	name, done := configuration.GetName(), "updated"
	standing, found, err := informer.GetIndexer().GetByKey(name)
	if err != nil {
		return false, err
	}
	if found {
		configuration = standing.(C).DeepCopy()
	} else {
		configuration.SetLabels(map[string]string{managedByLabel: managedBy})
	}
	if err := rebuild(configuration); err != nil {
		return false, fmt.Errorf("webhook configuration %s: %w", name, err)
	}
	switch {
	case !found:
		done = "created"
		_, err = client.Create(ctx, configuration, metav1.CreateOptions{})
	case apiequality.Semantic.DeepEqual(standing, configuration):
		return false, nil
	default:
		_, err = client.Update(ctx, configuration, metav1.UpdateOptions{})
	}
	if err != nil {
		return false, fmt.Errorf("registering webhooks in %s: %w", name, err)
	}
	klog.FromContext(ctx).Info("Registered webhooks", "configuration", name, "done", done)
	return true, nil
}

// keepRegistered registers the webhooks until the context is done, and again after every change.
func (s *Set) keepRegistered(ctx context.Context) error {
	again := make(chan struct{}, 1)
	look := func() {
		select {
		case again <- struct{}{}:
		default: // that was asked already
		}
	}
	if err := s.OnMatchChange(look); err != nil {
		return err
	}
	return together(ctx, func(ctx context.Context) error { return s.Watch(ctx, look) }, func(ctx context.Context) error {
		for pause, next := answer, resync; ctx.Err() == nil; await(ctx, next, pause, again) {
			wrote, err := s.registerOnce(ctx)
			next = resync
			if !wrote && err == nil {
				pause = answer
				continue
			}
			if pause = min(2*pause, resync); err == nil || ctx.Err() != nil {
				continue
			}
			next = pause
			if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
				klog.FromContext(ctx).V(2).Info("Another replica was faster, looking again", "reason", err.Error(), "after", pause)
			} else {
				klog.FromContext(ctx).Error(err, "Webhooks are not registered, trying again", "after", pause)
			}
		}
		return nil
	})
}

// patience is how long one look may wait for caches.
const patience = 10 * time.Second

func (s *Set) registerOnce(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	target, err := s.options.Target(ctx)
	if err != nil {
		return false, fmt.Errorf("how the API server reaches the webhooks: %w", err)
	}
	return s.Register(ctx, target)
}

// await returns after a time, or a pause after something has changed, or when the context is done.
func await(ctx context.Context, most, pause time.Duration, changed <-chan struct{}) {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return
	case <-timer.C:
		return
	case <-changed:
	}
	timer.Reset(pause)
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// lister lists and watches configurations.
type lister[L runtime.Object] interface {
	List(context.Context, metav1.ListOptions) (L, error)
	Watch(context.Context, metav1.ListOptions) (watch.Interface, error)
}

// newInformer makes an informer of the configuration of a name.
func newInformer[L runtime.Object](name string, object runtime.Object, client lister[L]) cache.SharedIndexInformer {
	only := fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()
	informer := cache.NewSharedIndexInformer(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			o.FieldSelector = only
			return client.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.FieldSelector = only
			return client.Watch(ctx, o)
		},
	}, object, 0, cache.Indexers{})
	_ = informer.SetTransform(caches.Trim) // fails only once it runs
	return informer
}

package registration

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright/examples/manager/certificates"
)

// Config says what a Loop keeps in order. Every field is required, except where
// it says otherwise.
type Config struct {
	Kubernetes kubernetes.Interface
	// Namespace and Secret name the Secret of the certificates. An empty Secret
	// keeps them in Folder.
	Namespace, Secret string
	// Folder of the certificates where there is no Secret.
	Folder string
	// Host is the DNS name or the IP address that the server certificate is for.
	Host string
	// Target is where the webhooks are served; its CABundle is set by the loop.
	Target Target
	// Definitions is a client for CustomResourceDefinitions. Default nil: no
	// conversion webhook is registered.
	Definitions dynamic.Interface
	// Register false leaves the two configurations and the definitions alone:
	// somebody else registers the webhooks.
	Register bool
	// Use is told of new certificates and returns once the server presents them.
	Use func(context.Context, certificates.Bundle) error
	// Clock defaults to the real one.
	Clock clock.WithTicker
}

// The rhythm of the loop: a change is answered within a second, everything is
// looked at once a minute, and a failing pass is repeated soon at first.
const (
	shortestGap = time.Second
	longestGap  = time.Minute
	firstRetry  = 100 * time.Millisecond
)

// Loop keeps the certificates, the two webhook configurations and the conversion
// webhook of a CustomResourceDefinition in order: it watches them, and looks at
// them once a minute. While nothing changes it sends no request.
//
// A definition that it may not touch, or that does not exist, keeps nothing else
// from working.
type Loop struct {
	Config
	store                certificates.Store
	secrets              cache.SharedIndexInformer // nil with a Folder
	mutating, validating cache.SharedIndexInformer
	definition           cache.SharedIndexInformer // nil without Definitions
	used                 certificates.Bundle       // what the server presents

	refused   atomic.Bool // the definition may not be read
	changed   chan struct{}
	succeeded chan struct{}
	once      sync.Once
	lock      sync.Mutex
	lastError error
}

// New returns a Loop that is not yet running.
func New(c Config) *Loop {
	if c.Clock == nil {
		c.Clock = clock.RealClock{}
	}
	l := &Loop{Config: c, changed: make(chan struct{}, 1), succeeded: make(chan struct{})}
	l.mutating, l.validating = watchMutating(c.Kubernetes), watchValidating(c.Kubernetes)
	l.store = certificates.Folder{Path: c.Folder}
	if c.Secret != "" {
		l.secrets = watchSecret(c.Kubernetes, c.Namespace, c.Secret)
		l.store = &certificates.Secret{
			Client: c.Kubernetes.CoreV1().Secrets(c.Namespace), Name: c.Secret,
			Cached: func() *corev1.Secret { return cached[*corev1.Secret](l.secrets, c.Namespace+"/"+c.Secret) },
		}
	}
	if c.Definitions != nil {
		l.definition = watchDefinition(c.Definitions)
	}
	return l
}

// Succeeded is closed after the first pass that leaves everything in order, but
// for a definition that cannot be written.
func (l *Loop) Succeeded() <-chan struct{} { return l.succeeded }

// LastError is what went wrong last, in a pass or in reading what it needs; nil
// after a pass that leaves everything in order.
func (l *Loop) LastError() error {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.lastError
}

// Run works until the context is done. A failing pass is logged and repeated.
func (l *Loop) Run(ctx context.Context) error {
	ctx = klog.NewContext(ctx, klog.FromContext(ctx).WithName("webhook-registration"))
	var watches sync.WaitGroup
	defer watches.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var synced []cache.InformerSynced
	l.setError(errors.New("the webhook configurations and the Secret of the certificates have not been read yet"))
	for _, informer := range l.informers() {
		registration, err := informer.AddEventHandler(l.onChange())
		if err = errors.Join(err, informer.SetTransform(keepConversion), informer.SetWatchErrorHandlerWithContext(l.onWatchError(informer))); err != nil {
			return err
		}
		synced = append(synced, func() bool {
			return registration.HasSynced() || informer == l.definition && l.refused.Load()
		})
		watches.Go(func() { informer.RunWithContext(ctx) })
	}
	if !cache.WaitForCacheSync(ctx.Done(), synced...) {
		return nil // ended before it began
	}
	retry := firstRetry
	for {
		err := l.pass(ctx)
		gap := longestGap
		if err != nil {
			gap, retry = retry, min(2*retry, longestGap)
		} else {
			retry = firstRetry
		}
		l.report(ctx, err)
		if !l.wait(ctx, gap) {
			return nil
		}
	}
}

// pass looks at everything once, and writes what differs.
//
// The API server is not sent to a server that has no certificate yet. But where it
// will accept the certificate that the server has now, it hears of the new
// authority first, and the server changes over in the pass that finds everything
// registered.
func (l *Loop) pass(ctx context.Context) error {
	now := l.Clock.Now()
	bundle, err := certificates.Ensure(ctx, l.store, l.Host, now)
	if err != nil {
		return err
	}
	if !bundle.Accepts(l.used, now) {
		if err := l.use(ctx, bundle); err != nil {
			return err
		}
	}
	written, notConverted, err := l.register(ctx, bundle.CACert)
	if err != nil {
		return err
	}
	if !written {
		if err := l.use(ctx, bundle); err != nil {
			return err
		}
	}
	l.once.Do(func() { close(l.succeeded) })
	return notConverted
}

// use has the server present the bundle, unless it does already.
func (l *Loop) use(ctx context.Context, bundle certificates.Bundle) error {
	if reflect.DeepEqual(bundle, l.used) {
		return nil
	}
	if err := l.Use(ctx, bundle); err != nil {
		return fmt.Errorf("serving with new certificates: %w", err)
	}
	l.used = bundle
	return nil
}

// register registers the webhooks of a server whose certificate these authorities
// have signed. It returns whether it has written, and apart from other errors what
// keeps the conversion webhook from being registered.
func (l *Loop) register(ctx context.Context, authorities []byte) (written bool, notConverted, err error) {
	if !l.Register {
		return false, nil, nil
	}
	target := l.Target
	target.CABundle = authorities
	mutating, err := l.registerMutating(ctx, target)
	if err != nil {
		return mutating, nil, err
	}
	validating, err := l.registerValidating(ctx, target)
	if err != nil {
		return mutating || validating, nil, err
	}
	converting, notConverted := l.registerConversion(ctx, target)
	return mutating || validating || converting, notConverted, nil
}

func (l *Loop) registerMutating(ctx context.Context, target Target) (bool, error) {
	current := cached[*admissionv1.MutatingWebhookConfiguration](l.mutating, MutatingName)
	wanted, err := Mutating(current, target)
	if err != nil || wanted == current {
		return false, err
	}
	klog.FromContext(ctx).Info("Registering mutating webhooks", "configuration", MutatingName, "webhooks", len(wanted.Webhooks))
	return true, write(ctx, l.Kubernetes.AdmissionregistrationV1().MutatingWebhookConfigurations(), current, wanted)
}

func (l *Loop) registerValidating(ctx context.Context, target Target) (bool, error) {
	current := cached[*admissionv1.ValidatingWebhookConfiguration](l.validating, ValidatingName)
	wanted, err := Validating(current, target)
	if err != nil || wanted == current {
		return false, err
	}
	klog.FromContext(ctx).Info("Registering validating webhooks", "configuration", ValidatingName, "webhooks", len(wanted.Webhooks))
	return true, write(ctx, l.Kubernetes.AdmissionregistrationV1().ValidatingWebhookConfigurations(), current, wanted)
}

// writer is what the typed clients offer.
type writer[T any] interface {
	Create(ctx context.Context, object *T, opts metav1.CreateOptions) (*T, error)
	Update(ctx context.Context, object *T, opts metav1.UpdateOptions) (*T, error)
}

// write creates the wanted object, or replaces exactly the current one.
func write[T any](ctx context.Context, client writer[T], current, wanted *T) (err error) {
	if current == nil {
		_, err = client.Create(ctx, wanted, metav1.CreateOptions{})
	} else {
		_, err = client.Update(ctx, wanted, metav1.UpdateOptions{})
	}
	if err != nil {
		return fmt.Errorf("registering webhooks: %w", err)
	}
	return nil
}

// report logs the outcome of a pass. Conflicts are how replicas take turns: the
// next pass sees what the other one has written.
func (l *Loop) report(ctx context.Context, err error) {
	l.setError(err)
	switch {
	case err == nil:
	case ctx.Err() != nil:
	case apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || errors.Is(err, certificates.ErrRaced):
		klog.FromContext(ctx).V(2).Info("Another replica was faster, looking again", "reason", err.Error())
	default:
		klog.FromContext(ctx).Error(err, "Keeping webhook certificates and registration in order failed, trying again")
	}
}

func (l *Loop) setError(err error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.lastError = err
}

// wait returns after the gap, or earlier after a change, but not at once: two
// replicas that do not agree must not keep the API server busy. It returns
// false when the context is done.
func (l *Loop) wait(ctx context.Context, gap time.Duration) bool {
	timer := l.Clock.NewTimer(min(gap, shortestGap))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C():
	}
	if gap <= shortestGap {
		return true
	}
	timer.Reset(gap - shortestGap)
	select {
	case <-ctx.Done():
		return false
	case <-l.changed:
	case <-timer.C():
	}
	return true
}

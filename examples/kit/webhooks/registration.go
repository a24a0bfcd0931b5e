// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/podwright/podwright/examples/kit/webhooks/certificates"
	podwrightmanager "github.com/podwright/podwright/manager"
)

// The rhythm: a change is answered after a second, everything is looked at once a minute. Two replicas that do not agree
// must not keep the API server busy.
const (
	answer = time.Second
	resync = time.Minute
	limit  = 10 * time.Second // of one look, for what cannot be read
)

// withoutConversion is what a definition means that leads nowhere, or to a server that does not answer.
const withoutConversion = "requests in a version that is not stored lose fields or fail: " +
	"let the manager list, watch and patch customresourcedefinitions, or keep spec.conversion in order yourself"

// definition returns that of a kind, to be read.
func definition(name string) *unstructured.Unstructured {
	crd := &unstructured.Unstructured{}
	crd.SetAPIVersion("apiextensions.k8s.io/v1")
	crd.SetKind("CustomResourceDefinition")
	crd.SetName(name)
	return crd
}

// Configure has a manager cache the objects that the server keeps in order, and no others of their kinds. They are known without
// asking the API server for its resources.
func (s *Server) Configure(options *manager.Options) {
	named := func(name string) fields.Selector { return fields.OneTermEqualSelector(metav1.ObjectNameField, name) }
	options.Cache.ByObject = map[client.Object]cache.ByObject{
		&corev1.Secret{}:          {Namespaces: map[string]cache.Config{s.Namespace: {FieldSelector: named(s.Secret)}}},
		definition(ConvertedName): {Field: named(ConvertedName)},
	}
	options.Client.Cache = &client.CacheOptions{Unstructured: true}
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Secret"), meta.RESTScopeNamespace)
	mapper.Add(definition(ConvertedName).GroupVersionKind(), meta.RESTScopeRoot)
	mapper.Add(admissionv1.SchemeGroupVersion.WithKind("MutatingWebhookConfiguration"), meta.RESTScopeRoot)
	mapper.Add(admissionv1.SchemeGroupVersion.WithKind("ValidatingWebhookConfiguration"), meta.RESTScopeRoot)
	options.MapperProvider = func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return mapper, nil }
}

// AddTo has a manager run the server in every replica, and keep it registered: from now on, and after every change.
func (s *Server) AddTo(m manager.Manager) error {
	s.client, s.live = m.GetClient(), m.GetAPIReader()
	c, err := controller.New("webhook-registration", m, controller.Options{
		Reconciler: s, NeedLeaderElection: ptr.To(false), ReconciliationTimeout: limit, SkipNameValidation: ptr.To(true),
	})
	if err = cmp.Or(err, m.Add(s.runnable())); err != nil {
		return err
	}
	var watched []client.Object
	if !s.InFolder() && !s.External {
		watched = append(watched, &corev1.Secret{})
	}
	if s.Register {
		watched = append(watched, definition(ConvertedName))
		if err := m.Add(watching(func(ctx context.Context) error { return s.Webhooks.Watch(ctx, func() { ask(s.soon) }) })); err != nil {
			return err
		}
	}
	return c.Watch(source.Func(func(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		queue.Add(reconcile.Request{})
		go func() {
			for {
				select {
				case <-ctx.Done():
					return
				case <-s.again:
					queue.Add(reconcile.Request{})
				case <-s.soon:
					queue.AddAfter(reconcile.Request{}, answer)
				}
			}
		}()
		again := func() { queue.AddAfter(reconcile.Request{}, answer) }
		for _, object := range watched { // source.Kind would wait for what cannot be read
			informer, err := m.GetCache().GetInformer(ctx, object, cache.BlockUntilSynced(false))
			if err == nil {
				_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
					AddFunc: func(any) { again() }, UpdateFunc: func(any, any) { again() }, DeleteFunc: func(any) { again() },
				})
			}
			if err != nil {
				return err
			}
		}
		return nil
	}))
}

// watching watches in every replica.
type watching func(context.Context) error

func (f watching) Start(ctx context.Context) error { return f(ctx) }
func (watching) NeedLeaderElection() bool          { return false }

// Reconcile implements reconcile.Reconciler. Conflicts are how replicas take turns: the next look sees what the other
// one has written.
func (s *Server) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	if s.External {
		return reconcile.Result{RequeueAfter: s.lookAtExternal(ctx)}, nil
	}
	notConverted, err := s.look(ctx)
	s.last.Store(&err)
	switch {
	case apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsConflict(notConverted):
		klog.FromContext(ctx).V(2).Info("Another replica was faster, looking again", "reason", cmp.Or(err, notConverted).Error())
		return reconcile.Result{RequeueAfter: answer}, nil
	case err != nil:
		return reconcile.Result{}, fmt.Errorf("keeping webhook certificates and registration in order: %w", err)
	case notConverted != nil:
		klog.FromContext(ctx).Error(notConverted, "The conversion webhook is not in order: "+withoutConversion)
	}
	s.succeeded()
	return reconcile.Result{RequeueAfter: resync}, nil
}

// store returns the Secret of the certificates.
func (s *Server) store() certificates.Store {
	if s.InFolder() {
		return certificates.Folder(s.CertDir)
	}
	return &certificates.Secret{ObjectKey: client.ObjectKey{Namespace: s.Namespace, Name: s.Secret}, Reader: s.client, Writer: s.client}
}

// look looks at everything once, and writes what differs. What keeps the conversion webhook from being registered
// is an error of its own.
//
// The API server is not sent to a server that has no certificate yet. But if it will accept the certificate that the
// server has now, it hears of the new authority first. The server changes over when everything is registered.
func (s *Server) look(ctx context.Context) (notConverted, err error) {
	now := time.Now()
	bundle, err := certificates.Ensure(ctx, s.store(), s.Name(), now, s.RenewBefore)
	if err != nil {
		return nil, err
	}
	if !bundle.Accepts(s.used, now) {
		if err := s.change(ctx, bundle); err != nil {
			return nil, err
		}
	}
	written := false
	if s.Register {
		target := podwrightmanager.Target{URL: s.url, Namespace: s.Namespace, Service: s.Service, CABundle: bundle[certificates.CACert]}
		if written, notConverted, err = s.register(ctx, target); err != nil {
			return nil, err
		}
		s.target.Store(&target)
	}
	if !written {
		err = s.change(ctx, bundle)
	}
	return notConverted, err
}

// change has the server present the bundle, unless it does already.
func (s *Server) change(ctx context.Context, bundle certificates.Bundle) error {
	if maps.EqualFunc(bundle, s.used, func(a, b []byte) bool { return string(a) == string(b) }) {
		return nil
	}
	if err := s.present(ctx, bundle); err != nil {
		return fmt.Errorf("serving with new certificates: %w", err)
	}
	s.used = bundle
	return nil
}

// register writes the configurations and the definition if they differ. It returns whether it has written.
func (s *Server) register(ctx context.Context, target podwrightmanager.Target) (written bool, notConverted, err error) {
	limited, cancel := context.WithTimeout(ctx, limit/2) // it waits for what it reads
	defer cancel()
	if written, err = s.Webhooks.Register(limited, target); err != nil {
		return false, nil, err
	}
	converting, notConverted := s.registerConversion(ctx, target)
	return written || converting, notConverted, nil
}

package registration

import (
	"context"
	"fmt"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// listWatcher is what every typed client offers.
type listWatcher[L runtime.Object] interface {
	List(ctx context.Context, opts metav1.ListOptions) (L, error)
	Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error)
}

// watchOne returns an informer of one object. The client set is that of the client.
func watchOne[L runtime.Object](set any, client listWatcher[L], name string, example runtime.Object) cache.SharedIndexInformer {
	selector := fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()
	listWatch := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			opts.FieldSelector = selector
			return client.List(ctx, opts)
		},
		WatchFuncWithContext: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
			opts.FieldSelector = selector
			return client.Watch(ctx, opts)
		},
	}
	return cache.NewSharedIndexInformer(cache.ToListWatcherWithWatchListSemantics(listWatch, set), example, 0, nil)
}

func watchMutating(k kubernetes.Interface) cache.SharedIndexInformer {
	return watchOne(k, k.AdmissionregistrationV1().MutatingWebhookConfigurations(), MutatingName, &admissionv1.MutatingWebhookConfiguration{})
}

func watchValidating(k kubernetes.Interface) cache.SharedIndexInformer {
	return watchOne(k, k.AdmissionregistrationV1().ValidatingWebhookConfigurations(), ValidatingName, &admissionv1.ValidatingWebhookConfiguration{})
}

func watchSecret(k kubernetes.Interface, namespace, name string) cache.SharedIndexInformer {
	return watchOne(k, k.CoreV1().Secrets(namespace), name, &corev1.Secret{})
}

// informers returns what the loop watches.
func (l *Loop) informers() []cache.SharedIndexInformer {
	var informers []cache.SharedIndexInformer
	if l.secrets != nil {
		informers = append(informers, l.secrets)
	}
	if l.Register {
		informers = append(informers, l.mutating, l.validating)
	}
	if l.Register && l.definition != nil {
		informers = append(informers, l.definition)
	}
	return informers
}

// onChange asks for a pass. Changes that come before the next pass are one.
func (l *Loop) onChange() cache.ResourceEventHandler {
	notify := func() {
		select {
		case l.changed <- struct{}{}:
		default:
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { notify() },
		UpdateFunc: func(any, any) { notify() },
		DeleteFunc: func(any) { notify() },
	}
}

// onWatchError remembers why a watch failed, and logs it where it is worth it.
func (l *Loop) onWatchError(informer cache.SharedIndexInformer) cache.WatchErrorHandlerWithContext {
	return func(ctx context.Context, reflector *cache.Reflector, err error) {
		if informer == l.definition && apierrors.IsForbidden(err) {
			l.refused.Store(true)
			klog.FromContext(ctx).Error(err, "The conversion webhook is not kept in order: "+withoutConversion, "crd", ConvertedName)
			return
		}
		l.setError(fmt.Errorf("watching: %w", err))
		cache.DefaultWatchErrorHandler(ctx, reflector, err)
	}
}

// cached returns the object of a key from an informer, the zero value when
// there is none.
func cached[T any](informer cache.SharedIndexInformer, key string) (object T) {
	found, exists, err := informer.GetStore().GetByKey(key)
	if err != nil || !exists {
		return object
	}
	object, _ = found.(T)
	return object
}

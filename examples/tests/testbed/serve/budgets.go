// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"net/http"

	"golang.org/x/sync/errgroup"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/availability"
	"github.com/podwright/podwright/availability/client"
	"github.com/podwright/podwright/availability/podunavailablebudget"
	"github.com/podwright/podwright/availability/v1alpha1"
)

// Budgets are the controller of PodUnavailableBudgets and the webhook that asks them about deletions and evictions, in one
// process.
type Budgets struct {
	// Options are those of the controller. Kubernetes, Availability and Namespace are required; Budgets is set by Run.
	Options podunavailablebudget.Options
	// Pods is a cache of pods that the webhook reads; nil: it asks the API server for each.
	Pods corev1listers.PodLister
	// Wrap stands around the handlers. Nil: nothing does.
	Wrap func(http.Handler) http.Handler
}

// Run runs both, and what they read, until the context is done or one of them fails.
func (b *Budgets) Run(ctx context.Context) error {
	o := b.Options
	o.Budgets = client.NewPodUnavailableBudgetInformer(o.Availability, o.Namespace, 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	controller, err := podunavailablebudget.New(o)
	if err != nil {
		return err
	}
	guard, err := podunavailablebudget.NewGuard(podunavailablebudget.GuardOptions{
		Availability: o.Availability, Budgets: client.NewPodUnavailableBudgetLister(o.Budgets.GetIndexer()),
	})
	if err != nil {
		return err
	}
	webhook := &podunavailablebudget.Webhook{Deletions: true, Guard: guard, Kubernetes: o.Kubernetes, Pods: b.Pods, Availability: o.Availability}
	handlers := webhook.Handlers()
	for path, handler := range handlers {
		if b.Wrap != nil {
			handlers[path] = b.Wrap(handler)
		}
	}
	_, validating := availability.Webhooks()
	for i := range validating {
		validating[i].NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: o.Namespace}}
	}
	running, ctx := errgroup.WithContext(ctx)
	running.Go(func() error { o.Budgets.RunWithContext(ctx); return nil })
	running.Go(func() error { return controller.Run(ctx) })
	running.Go(func() error {
		return Webhooks(ctx, o.Kubernetes, "budgets", handlers, nil, conditioned(validating, o.Namespace))
	})
	return running.Wait()
}

// conditioned keeps requests about pods away from the webhook that no budget protects. The budgets are in one namespace.
func conditioned(webhooks []admissionregistrationv1.ValidatingWebhook, namespace string) []admissionregistrationv1.ValidatingWebhook {
	some := podunavailablebudget.MatchExpression([]*v1alpha1.PodUnavailableBudget{{ObjectMeta: metav1.ObjectMeta{Namespace: namespace}}})
	for i := range webhooks {
		if *webhooks[i].ClientConfig.Service.Path == podunavailablebudget.ValidatePodPath {
			webhooks[i].MatchConditions = []admissionregistrationv1.MatchCondition{{Name: "budget", Expression: "request.operation != 'UPDATE' && (" + some + ")"}}
		}
	}
	return webhooks
}

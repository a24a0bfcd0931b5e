// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/availability/client"
	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
)

// AdmissionMetrics receives what a CachedWebhook measures. Implementations must be safe for use by several goroutines.
type AdmissionMetrics interface {
	DecisionMetrics
	// Gone is called when a budget no longer exists.
	Gone(namespace, budget string)
}

// AdmissionOptions says what a CachedWebhook works with. Kubernetes and Availability are required.
type AdmissionOptions struct {
	// Kubernetes reads pods, and notes on them that their eviction was denied.
	Kubernetes kubernetes.Interface
	// Availability reads budgets, and writes their status.
	Availability client.Interface
	// Deletions and Updates are those of Webhook. Default: neither.
	Deletions, Updates bool
	// NoPods says to keep no cache of pods, which takes the right to list those of all namespaces. Then the pods that
	// are evicted are asked for one by one. Default: there is one if Deletions is set, from when there is a budget.
	NoPods bool
	// CacheSyncTimeout is how long Run waits until the caches are filled, before it returns an error. Default 2 minutes.
	CacheSyncTimeout time.Duration
	// Metrics defaults to none.
	Metrics AdmissionMetrics
	// Recorder is that of Webhook. Default nil: no events.
	Recorder record.EventRecorder
	// Features switches how pods are judged.
	Features Features
}

// webhookName stands in logs and errors.
const webhookName = "podunavailablebudget-webhook"

// CachedWebhook is a Webhook with the caches that it reads, for every replica of a program. It caches budgets and,
// while there are any, a few hundred bytes of each pod that may be evicted. So an answer takes one request to the API
// server at most, or two if a pod does not count. What the caches lack, while they are not filled or do not run, is
// asked for. NewCachedWebhook makes one. A program that runs controllers beside it shares their pods, by SharePods. (PUB-25, PUB-33)
type CachedWebhook struct {
	Webhook
	budgets, pods         *controller.Sources
	fillBudgets, fillPods *controller.Filling
	informer              cache.SharedIndexInformer // of budgets
	first                 chan struct{}             // closed once there is a budget
	served                *admission.Known[struct{}]
	shared                *sharedPods
	kept                  cache.Indexer // of the pods that it keeps itself; nil if it keeps none
}

// NewCachedWebhook returns one whose caches are not yet running.
func NewCachedWebhook(o AdmissionOptions) (*CachedWebhook, error) {
	if err := controller.Check("podunavailablebudget").KindClient("Availability", "availability", o.Availability != nil).
		That(o.Kubernetes != nil, "Options.Kubernetes is nil: it needs a clientset, kubernetes.NewForConfig makes one").Err(); err != nil {
		return nil, err
	}
	var budgets, pods cache.SharedIndexInformer
	ofBudgets, err := controller.Open("podunavailablebudget", []controller.Read{{
		Resource: ResourceBudgets, Object: &v1alpha1.PodUnavailableBudget{}, Informer: &budgets, Indexes: []podwright.Index{caches.ByNamespace},
		MakeInformer: controller.Maker(client.NewPodUnavailableBudgetInformer, o.Availability, ""),
	}})
	if err != nil {
		return nil, err
	}
	var readPods []controller.Read
	if o.Deletions && !o.NoPods {
		readPods = []controller.Read{{Resource: ResourcePods, Informer: &pods, Trim: keepPod, MakeInformer: caches.NewInformers(o.Kubernetes, "").Pods}}
	}
	ofPods, err := controller.Open("podunavailablebudget", readPods)
	if err != nil {
		return nil, err
	}
	w := &CachedWebhook{
		budgets: ofBudgets, pods: ofPods, fillBudgets: ofBudgets.Filling(webhookName, o.CacheSyncTimeout), fillPods: ofPods.Filling(webhookName, o.CacheSyncTimeout), informer: budgets, first: make(chan struct{}),
		served: admission.NewKnown[struct{}]("whether the API server serves PodUnavailableBudgets"), shared: newSharedPods(),
	}
	w.Webhook = Webhook{Deletions: o.Deletions, Updates: o.Updates, Kubernetes: o.Kubernetes, Availability: o.Availability, Recorder: o.Recorder}
	if pods != nil {
		w.kept = pods.GetIndexer()
		w.Pods = knownPods{keptPods{Indexer: w.kept}, w.shared}
	}
	guard := GuardOptions{Availability: o.Availability, Budgets: client.NewPodUnavailableBudgetLister(budgets.GetIndexer()), Features: o.Features, Metrics: o.Metrics}
	first := sync.OnceFunc(func() { close(w.first) })
	_, err = budgets.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { first() },
		DeleteFunc: func(object any) {
			if key, err := cache.DeletionHandlingObjectToName(object); err == nil {
				controller.Measure(o.Metrics, func(m AdmissionMetrics) { m.Gone(key.Namespace, key.Name) })
			}
		},
	})
	var err2 error
	w.Guard, err2 = NewGuard(guard)
	return w, errors.Join(err, err2)
}

// Run fills the caches until the context is done. It fills that of budgets, which must be served, and that of pods,
// which costs most, once there is a budget. What it returns, and when, is as with podwright.Controller. It can be called once.
func (w *CachedWebhook) Run(ctx context.Context) error {
	w.served.Set(struct{}{})
	return w.fillBudgets.RunAfter(ctx, w.first, w.keepPods)
}

// sharedWithin is how long after the first budget a program may share its pods before the webhook keeps some itself.
const sharedWithin = 5 * time.Second

// SharePods has the webhook read the pods of an informer that the program runs anyway, as its controllers do, while that is filled.
// The informer may have workloads.Trim as its transform. The webhook then fills no cache of its own, or empties it once the informer
// is filled. When the informer has stopped, it asks for pods one by one. Only the first call counts. AdmissionOptions.NoPods says
// that no cache of pods is read, and thus not this one.
func (w *CachedWebhook) SharePods(informer cache.SharedIndexInformer) { w.shared.give(informer) }

// keepPods fills the cache of pods, unless another one is shared, and until that is filled. It ends with the context, or fails.
func (w *CachedWebhook) keepPods(ctx context.Context) error {
	until, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		defer cancel()
		w.shared.await(until)
	}()
	select {
	case <-ctx.Done():
	case <-w.shared.given:
	case <-time.After(sharedWithin):
		if err := w.fillPods.Fill(until); err != nil {
			return err
		}
		if w.kept != nil {
			_ = w.kept.Replace(nil, "") // its informer has ended, and would never change it again
		}
	}
	<-ctx.Done()
	return nil
}

// HasSynced tells whether the caches have been filled that are read now: that of budgets and, if there is one, that of pods. One that
// is shared is read once it is filled, and not waited for. After Missing none is read.
func (w *CachedWebhook) HasSynced() bool {
	if _, there := w.served.Now(); !there && w.served.IsKnown() {
		return true
	}
	select {
	case <-w.first:
		return w.fillBudgets.HasSynced() && (w.shared.isGiven() || w.fillPods.HasSynced())
	default:
		return w.fillBudgets.HasSynced()
	}
}

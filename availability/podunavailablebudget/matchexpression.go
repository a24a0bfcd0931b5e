// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/caches"
)

// mostNamespaces is how many namespaces an expression tells apart: the API server evaluates it for every request about a pod.
const mostNamespaces = 500

// judged is true of evictions, which do not say of which pod they are. It is true of other requests about pods that name a
// budget, before the request, and may serve. Such pods run and are not being deleted, unlike those that the kubelet deletes
// last.
const judged = `request.kind.kind == 'Eviction' || (` +
	`has(oldObject.metadata.annotations) && '` + v1alpha1.RelatedPubAnnotation + `' in oldObject.metadata.annotations && ` +
	`!has(oldObject.metadata.deletionTimestamp) && has(oldObject.status) && has(oldObject.status.phase) && oldObject.status.phase == 'Running')`

// MatchExpression returns an expression in the Common Expression Language of matchConditions in webhook configurations.
// It is true of the requests about pods that a Webhook has to be asked about while these are all budgets, and of some
// others. It is true of evictions in their namespaces, and of deletions and updates of pods there that name a budget
// and may serve. All other pods go while no replica serves. Of no budget it is false; beyond 500 namespaces it is true
// of evictions in all of them.
//
// It has to be registered anew when the first budget of a namespace comes, or the last one goes. Until then that budget does
// not protect. (PUB-36)
func MatchExpression(budgets []*v1alpha1.PodUnavailableBudget) string {
	namespaces := sets.New[string]()
	for _, b := range budgets {
		namespaces.Insert(b.Namespace)
	}
	switch n := len(namespaces); {
	case n == 0:
		return "false"
	case n > mostNamespaces:
		return judged
	}
	return fmt.Sprintf("request.namespace in ['%s'] && (%s)", strings.Join(sets.List(namespaces), "', '"), judged)
}

// Missing says that the API server does not serve PodUnavailableBudgets, until Run is called: MatchExpression is false.
func (w *CachedWebhook) Missing() { w.served.Missing() }

// MatchExpression is that of the budgets that there are now, without updates if these are not judged. It waits until the cache
// of budgets is filled, or Missing was called; an error says that the context ended before. (PUB-36)
func (w *CachedWebhook) MatchExpression(ctx context.Context) (string, error) {
	_, there, err := w.served.Get(ctx)
	if err != nil || !there {
		return "false", err
	}
	if !cache.WaitForCacheSync(ctx.Done(), w.budgets.Synced()...) {
		return "", errors.New("the cache of PodUnavailableBudgets is not filled yet; try again")
	}
	budgets, err := w.Guard.options.Budgets.List(labels.Everything())
	if err != nil {
		return "", err
	}
	expression := MatchExpression(budgets)
	if w.Updates || expression == "false" {
		return expression, nil
	}
	return fmt.Sprintf("request.operation != 'UPDATE' && (%s)", expression), nil
}

// OnMatchChange has a function called, by a goroutine of the informer, when a budget comes or goes. Then
// MatchExpression may return something else, and the webhook is to be registered anew. The function must not wait for
// anything.
func (w *CachedWebhook) OnMatchChange(changed func()) error {
	return caches.OnChange(w.informer, func(any) bool { return true }, changed)
}

// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/kubernetes"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/record"

	"github.com/podwright/podwright/availability/budget"
	"github.com/podwright/podwright/availability/client"
	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/internal/manifests"
	"github.com/podwright/podwright/internal/validation"
)

const (
	// ValidatePath is the path by which webhook configurations name Webhook.Validate.
	ValidatePath = "/validate-policy-kruise-io-podunavailablebudget"
	// ValidatePodPath is the path by which webhook configurations name Webhook.ValidatePod.
	ValidatePodPath = "/validate-pod"
)

// Webhook answers admission requests for PodUnavailableBudgets, and for what takes pods down.
// Its zero value allows everything about pods and refuses budgets, which no controller would keep. It may be used by
// many goroutines.
//
// Requests for other kinds are allowed as they are. An object that cannot be decoded is refused
// with the code 400.
type Webhook struct {
	// Deletions has deletions and evictions of pods judged; it is the gate
	// PodUnavailableBudgetDeleteGate. Updates has updates and resizes judged; it is the gate
	// PodUnavailableBudgetUpdateGate. Default: neither.
	Deletions, Updates bool
	// Guard answers about pods. Required if Deletions or Updates is set.
	Guard *Guard
	// Kubernetes reads pods that are to be evicted, and notes on those of CloneSets if that
	// is denied. Required if Deletions is set.
	Kubernetes kubernetes.Interface
	// Pods reads a cache of the pods that may be evicted, so that an eviction costs one request. It may be
	// behind, and may still be empty; TrimPod keeps it small. Default nil: it costs two. That of a pod that does
	// not count costs one more (PUB-33).
	Pods corev1listers.PodLister
	// Availability reads the other budgets of a namespace. Nil: a budget is judged as if
	// there were no others.
	Availability client.Interface
	// Recorder receives an event about each pod that may not go, once a minute at most, as OpenKruise has it from 1.5 on. Its
	// component is v1alpha1.PubDenialEventSource there. Default nil: no events. (PUB-44)
	Recorder record.EventRecorder
}

// Handlers returns the HTTP handlers by the paths that existing webhook
// configurations call. Pods are left out if neither Deletions nor Updates is set.
func (w *Webhook) Handlers() map[string]http.Handler {
	handlers := w.admission().Handlers()
	if w.Deletions || w.Updates {
		handlers[ValidatePodPath] = admission.Handler(w.ValidatePod)
	}
	return handlers
}

// Rules returns the RBAC rules that the Webhook and its Guard need, and none beyond.
// Reading caches counts, whether or not the Webhook runs them.
func (w *Webhook) Rules() []rbacv1.PolicyRule {
	rules := []rbacv1.PolicyRule{manifests.Rule(v1alpha1.GroupName, "podunavailablebudgets", "get list watch")}
	if w.Deletions || w.Updates {
		rules = append(rules, manifests.Rule(v1alpha1.GroupName, "podunavailablebudgets/status", "patch"))
	}
	switch {
	case w.Deletions && w.Pods != nil:
		rules = append(rules, manifests.Rule("", "pods", "get list watch patch"))
	case w.Deletions:
		rules = append(rules, manifests.Rule("", "pods", "get patch"))
	}
	if w.Recorder != nil && (w.Deletions || w.Updates) {
		rules = append(rules, manifests.Events())
	}
	return rules
}

// Validate answers CREATE and UPDATE of budgets. It refuses an invalid one with the code 400, as
// OpenKruise does, and a cause for every field.
func (w *Webhook) Validate(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	return w.admission().Validate(ctx, request)
}

type change = admission.Change[v1alpha1.PodUnavailableBudget]

// gatesOff says why no budget can be saved. (PUB-26)
const gatesOff = "feature PodUnavailableBudget is invalid, please open via feature-gate(PodUnavailableBudgetDeleteGate, PodUnavailableBudgetUpdateGate)"

func (w *Webhook) admission() admission.Webhook[v1alpha1.PodUnavailableBudget] {
	return admission.Webhook[v1alpha1.PodUnavailableBudget]{
		GroupKind: v1alpha1.Kind(kind), ValidatePath: ValidatePath,
		Check: func(ctx context.Context, c change) (field.ErrorList, error) {
			errs, err := w.check(ctx, c)
			if err != nil {
				return nil, err
			}
			return nil, admission.Invalid(c.Request, errs, http.StatusBadRequest, metav1.StatusReasonBadRequest)
		},
	}
}

// check says what is wrong with a change of a budget. What does not change is not judged again: a
// finalizer can be removed whatever others have come to say meanwhile. (PUB-21, PUB-22, PUB-26)
func (w *Webhook) check(ctx context.Context, c change) (field.ErrorList, error) {
	switch {
	case c.Old != nil && equality.Semantic.DeepEqual(&c.Object.Spec, &c.Old.Spec) && maps.Equal(c.Object.Annotations, c.Old.Annotations):
		return nil, nil
	case !w.Deletions && !w.Updates:
		return nil, apierrors.NewBadRequest(gatesOff)
	}
	errs := c.Errors(budget.ValidateCreate, budget.ValidateUpdate)
	conflict, err := w.conflicts(ctx, c.Object, c.Request.Namespace)
	return append(errs, conflict...), err
}

// conflicts compares a budget with all others of its namespace. (PUB-21)
func (w *Webhook) conflicts(ctx context.Context, b *v1alpha1.PodUnavailableBudget, namespace string) (field.ErrorList, error) {
	if w.Availability == nil {
		return nil, nil
	}
	others, err := w.Availability.PodUnavailableBudgets(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("read the other PodUnavailableBudgets: %w", err)
	}
	names := validation.Conflicts(b.Name, others.Items, func(other *v1alpha1.PodUnavailableBudget) bool { return budget.Conflict(b, other) })
	if len(names) == 0 {
		return nil, nil
	}
	path := field.NewPath("spec", "selector")
	if b.Spec.TargetReference != nil {
		path = field.NewPath("spec", "targetRef")
	}
	return field.ErrorList{field.Forbidden(path, "is about the same pods as PodUnavailableBudget "+strings.Join(names, ", "))}, nil
}

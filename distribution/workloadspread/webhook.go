// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/spread"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/internal/manifests"
	"github.com/podwright/podwright/internal/validation"
	workloadsclient "github.com/podwright/podwright/workloads/client"
)

// ValidatePath is the path by which webhook configurations name Webhook.Validate.
const ValidatePath = "/validate-apps-kruise-io-v1alpha1-workloadspread"

// Webhook answers admission requests for WorkloadSpreads. Its zero value judges each by
// itself. It may be used by many goroutines. Pods are for a Placer.
//
// Requests for other kinds and for subresources are allowed as they are. An object that cannot be
// decoded is refused with the code 400.
type Webhook struct {
	// Distribution reads the other WorkloadSpreads of a namespace. Nil: one is judged as if
	// there were no others.
	Distribution client.Interface
	// Kubernetes reads the workload of a WorkloadSpread with patches if it is one of Kubernetes' own,
	// Workloads if it is of apps.kruise.io. Nil: patches are judged without its selector. (WS-21.1)
	Kubernetes kubernetes.Interface
	Workloads  workloadsclient.Interface
	// Whitelist returns the white list; ReadWhitelist does. An error refuses the object, with the code 500. Default nil:
	// there is none. (WS-35)
	Whitelist func(context.Context) (spread.Whitelist, error)
	// Features switches behaviour. Its zero value is OpenKruise 1.4.
	Features Features
	// Templates has the API server judge what patches make of the template of the workload, without storing it: the CoreV1 of
	// a clientset. Nil: they are not tried. (WS-21.2)
	Templates typedcorev1.PodTemplatesGetter
}

// Handlers returns the HTTP handlers by the paths that existing webhook
// configurations call.
func (w *Webhook) Handlers() map[string]http.Handler { return w.admission().Handlers() }

// Rules returns the RBAC rules that the Webhook needs, and none beyond.
func (w *Webhook) Rules() []rbacv1.PolicyRule {
	rules := w.targetRules()
	if w.Distribution != nil {
		rules = append(rules, manifests.Rule(v1alpha1.GroupName, "workloadspreads", "list"))
	}
	return rules
}

// Validate answers CREATE and UPDATE. It refuses an invalid WorkloadSpread with the code 400, as
// OpenKruise does, and a cause for every field. (WS-21, WS-22)
func (w *Webhook) Validate(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	return w.admission().Validate(ctx, request)
}

type change = admission.Change[v1alpha1.WorkloadSpread]

func (w *Webhook) admission() admission.Webhook[v1alpha1.WorkloadSpread] {
	return admission.Webhook[v1alpha1.WorkloadSpread]{
		GroupKind: v1alpha1.Kind(kind), ValidatePath: ValidatePath,
		Check: func(ctx context.Context, c change) (field.ErrorList, error) {
			errs, err := w.check(ctx, c)
			if err != nil {
				return nil, err
			}
			return nil, admission.Invalid(c.Request, errs, http.StatusBadRequest, metav1.StatusReasonBadRequest)
		},
		Confirm: w.tryPatches,
	}
}

// check says what is wrong with a change. What does not change is not judged again: a finalizer can
// be removed whatever others have come to say meanwhile. (WS-21, WS-22)
func (w *Webhook) check(ctx context.Context, c change) (field.ErrorList, error) {
	if c.Old != nil && equality.Semantic.DeepEqual(&c.Object.Spec, &c.Old.Spec) {
		return nil, nil
	}
	var kinds spread.Whitelist
	if w.Whitelist != nil {
		if target, known := spread.KindOf(c.Object); !known && target.Kind != "" {
			var err error
			if kinds, err = w.Whitelist(ctx); err != nil {
				return nil, err
			}
		}
	}
	errs := c.Errors(kinds.ValidateCreate, kinds.ValidateUpdate)
	patches, err := w.patches(ctx, c.Object, c.Request.Namespace)
	if err != nil {
		return nil, err
	}
	conflict, err := w.conflicts(ctx, c)
	return slices.Concat(errs, patches, conflict), err
}

// conflicts compares a WorkloadSpread with all others of its namespace. Only for a new one it reads
// what controls the workloads: a stored one must stay editable. (WS-22)
func (w *Webhook) conflicts(ctx context.Context, c change) (field.ErrorList, error) {
	if w.Distribution == nil {
		return nil, nil
	}
	ws, namespace := c.Object, c.Request.Namespace
	others, err := w.Distribution.WorkloadSpreads(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("read the other WorkloadSpreads: %w", err)
	}
	var above spread.Above
	var unread error
	if c.Old == nil {
		above = w.above(ctx, namespace, &unread)
	}
	names := validation.Conflicts(ws.Name, others.Items, func(other *v1alpha1.WorkloadSpread) bool { return spread.Conflict(ws, other, above) })
	if len(names) == 0 {
		return nil, unread
	}
	return field.ErrorList{field.Forbidden(field.NewPath("spec", "targetRef"), "is in conflict with other WorkloadSpread "+strings.Join(names, ", "))}, nil
}

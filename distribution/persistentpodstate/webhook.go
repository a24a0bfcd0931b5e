// SPDX-License-Identifier: Apache-2.0

package persistentpodstate

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/podstate"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/internal/manifests"
	"github.com/podwright/podwright/internal/validation"
)

// ValidatePath is the path by which webhook configurations name Webhook.Validate.
const ValidatePath = "/validate-apps-kruise-io-persistentpodstate"

// Webhook answers admission requests for PersistentPodStates. Its zero value knows no white list, and judges each as if
// there were no others. It may be used by many goroutines.
//
// Requests for other kinds are allowed as they are. An object that cannot be decoded is refused
// with the code 400. There are no defaults to set. (PPS-3)
type Webhook struct {
	// Whitelist returns the white list; ReadWhitelist does. An error refuses the object, with the code 500. Default nil:
	// there is none.
	Whitelist func(context.Context) (podstate.Whitelist, error)
	// Distribution reads the others of a namespace. Default nil: there are none.
	Distribution client.Interface
	// RestoreAnnotations says that pods get annotations back: PlacerOptions.RestoreAnnotations. Default false: who writes
	// persistentPodAnnotations is warned that they are recorded alone. (PPS-35)
	RestoreAnnotations bool
}

// Handlers returns the HTTP handlers by the paths that existing webhook configurations call.
func (w *Webhook) Handlers() map[string]http.Handler { return w.admission().Handlers() }

// Rules returns the RBAC rules that the Webhook needs, and none beyond, but for those of Whitelist.
func (w *Webhook) Rules() []rbacv1.PolicyRule {
	if w.Distribution == nil {
		return nil
	}
	return []rbacv1.PolicyRule{manifests.Rule(v1alpha1.GroupName, "persistentpodstates", "list")}
}

// Validate answers CREATE and UPDATE. It refuses what is invalid with the code 400, as OpenKruise does, and a cause for
// every field. (PPS-26)
func (w *Webhook) Validate(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	return w.admission().Validate(ctx, request)
}

type change = admission.Change[v1alpha1.PersistentPodState]

func (w *Webhook) admission() admission.Webhook[v1alpha1.PersistentPodState] {
	return admission.Webhook[v1alpha1.PersistentPodState]{
		GroupKind: v1alpha1.Kind(kind), ValidatePath: ValidatePath,
		Check: func(ctx context.Context, c change) (field.ErrorList, error) {
			errs, err := w.check(ctx, c)
			if err != nil {
				return nil, err
			}
			return nil, admission.Invalid(c.Request, errs, http.StatusBadRequest, metav1.StatusReasonBadRequest)
		},
		Confirm: func(_ context.Context, c change) *admissionv1.AdmissionResponse {
			return &admissionv1.AdmissionResponse{UID: c.Request.UID, Allowed: true, Warnings: w.warnings(c)}
		},
	}
}

// warnings says which annotations pods do not get back, if those that are asked for change. (PPS-35)
func (w *Webhook) warnings(c change) (warnings []string) {
	asked := c.Object.Spec.PersistentPodAnnotations
	if len(asked) == 0 || c.Old != nil && equality.Semantic.DeepEqual(c.Old.Spec.PersistentPodAnnotations, asked) {
		return nil
	}
	if !w.RestoreAnnotations {
		return []string{"spec.persistentPodAnnotations: they are recorded in the status, and pods do not get them back; the gate PersistentPodStateRestoreAnnotations changes that"}
	}
	for i := range asked {
		if key := asked[i].Key; !podstate.Restorable(key) {
			warnings = append(warnings, fmt.Sprintf("spec.persistentPodAnnotations[%d]: %s is recorded in the status, and pods do not get it back: controllers write it", i, key))
		}
	}
	return warnings
}

// check says what is wrong with a change. What does not change is not judged again: a finalizer can be removed whatever the white
// list has come to say meanwhile. (PPS-1 to PPS-3, PPS-26)
func (w *Webhook) check(ctx context.Context, c change) (errs field.ErrorList, err error) {
	if c.Old != nil && equality.Semantic.DeepEqual(&c.Object.Spec, &c.Old.Spec) {
		return nil, nil
	}
	var kinds podstate.Whitelist
	if w.Whitelist != nil {
		if kinds, err = w.Whitelist(ctx); err != nil {
			return nil, err
		}
	}
	errs = c.Errors(
		func(s *v1alpha1.PersistentPodState) field.ErrorList { return podstate.ValidateCreate(s, kinds) },
		func(s, old *v1alpha1.PersistentPodState) field.ErrorList {
			return podstate.ValidateUpdate(s, old, kinds)
		})
	conflict, err := w.conflicts(ctx, c.Object, c.Request.Namespace)
	return append(errs, conflict...), err
}

// conflicts compares a PersistentPodState with all others of its namespace. (PPS-1)
func (w *Webhook) conflicts(ctx context.Context, s *v1alpha1.PersistentPodState, namespace string) (field.ErrorList, error) {
	if w.Distribution == nil {
		return nil, nil
	}
	others, err := w.Distribution.PersistentPodStates(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("read the other PersistentPodStates: %w", err)
	}
	names := validation.Conflicts(s.Name, others.Items, func(other *v1alpha1.PersistentPodState) bool { return podstate.Conflict(s, other) })
	if len(names) == 0 {
		return nil, nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("spec", "targetRef"), "is that of PersistentPodState "+strings.Join(names, ", ")+" already")}, nil
}

// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/podwright/podwright/examples/kubectl-podwright/workload"
)

// Refused says what is wrong with the spec of a workload by the rules of the manager's webhook: field, value and rule. The
// API server refuses every change of that spec until it is mended. It has a value that was stored by another release, or
// while no webhook answered. Of kinds that have no plan it says nothing. (KC-20)
func (p *Planner) Refused(ctx context.Context, o *workload.Object) (all []string, err error) {
	kind := planned()[o.GetKind()]
	if kind.webhook == nil {
		return nil, nil
	}
	request, err := changeOf(o, kind.touched)
	if err != nil {
		return nil, err
	}
	if answer := kind.webhook(p.gates).Validate(ctx, request); !answer.Allowed && answer.Result != nil && answer.Result.Details != nil {
		for _, cause := range answer.Result.Details.Causes {
			all = append(all, cause.Field+": "+cause.Message)
		}
	}
	return all, nil
}

// changeOf is the request for a change of a field that has nothing wrong in itself.
func changeOf(o *workload.Object, field string) (*admissionv1.AdmissionRequest, error) {
	old, err := o.MarshalJSON()
	if err != nil {
		return nil, err
	}
	changed := o.DeepCopy()
	n, _, err := unstructured.NestedInt64(changed.Object, "spec", field)
	if err != nil {
		n = 0 // a percentage
	}
	if err := unstructured.SetNestedField(changed.Object, n+1, "spec", field); err != nil {
		return nil, fmt.Errorf("spec of %s: %w", o.Title(), err)
	}
	object, err := changed.MarshalJSON()
	if err != nil {
		return nil, err
	}
	return &admissionv1.AdmissionRequest{
		Kind: metav1.GroupVersionKind(o.GroupVersionKind()), Namespace: o.GetNamespace(), Name: o.GetName(), Operation: admissionv1.Update,
		Object: runtime.RawExtension{Raw: object}, OldObject: runtime.RawExtension{Raw: old},
	}, nil
}

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
	"github.com/podwright/podwright/examples/process/features"
	"github.com/podwright/podwright/examples/process/switches"
	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/daemonset"
	"github.com/podwright/podwright/workloads/statefulset"
)

// touched are fields that users may always change, by kind.
var touched = map[string]string{"CloneSet": "revisionHistoryLimit", "StatefulSet": "replicas", "DaemonSet": "burstReplicas"}

// Refused says what is wrong with the spec of a workload by the rules of the manager's webhook: field, value and rule. The
// API server refuses every change of that spec until it is mended. It has a value that was stored by another release, or
// while no webhook answered. Of kinds that have no plan it says nothing. (KC-20)
func (p *Planner) Refused(ctx context.Context, o *workload.Object) (all []string, err error) {
	var validate func(context.Context, *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse
	resize := p.gates.Enabled(features.InPlaceWorkloadVerticalScaling)
	switch o.GetKind() {
	case "CloneSet":
		validate = (&cloneset.Webhook{InPlaceResize: resize, PercentSigns: p.gates.Enabled(features.CloneSetPercentSigns)}).Validate
	case "StatefulSet":
		validate = (&statefulset.Webhook{InPlaceResize: resize, Features: switches.StatefulSet(p.gates)}).Validate
	case "DaemonSet":
		validate = (&daemonset.Webhook{FixedSelector: p.gates.Enabled(features.DaemonSetFixedSelector)}).Validate
	default:
		return nil, nil
	}
	request, err := changeOf(o)
	if err != nil {
		return nil, err
	}
	if answer := validate(ctx, request); !answer.Allowed && answer.Result != nil && answer.Result.Details != nil {
		for _, cause := range answer.Result.Details.Causes {
			all = append(all, cause.Field+": "+cause.Message)
		}
	}
	return all, nil
}

// changeOf is the request for a change that has nothing wrong in itself.
func changeOf(o *workload.Object) (*admissionv1.AdmissionRequest, error) {
	old, err := o.MarshalJSON()
	if err != nil {
		return nil, err
	}
	changed, field := o.DeepCopy(), touched[o.GetKind()]
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

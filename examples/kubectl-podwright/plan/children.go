// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/examples/kubectl-podwright/workload"
	"github.com/podwright/podwright/workloads/uniteddeployment"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// Child is the workload of a subset of a UnitedDeployment.
type Child struct {
	uniteddeployment.SubsetPlan
	// Object is the workload; nil if it is to be created.
	Object *workload.Object
	// Plan is what its own controller does next. Of the kinds of Kubernetes it holds nothing but the pods.
	Plan *Plan
}

// Children returns the workloads of the subsets that a plan is about, in the order of the topology.
func (p *Planner) Children(ctx context.Context, united *Plan) ([]Child, error) {
	var children []Child
	for _, subset := range united.Subsets {
		child := Child{SubsetPlan: subset}
		if subset.Child != nil {
			if err := p.fill(ctx, &child); err != nil {
				return nil, err
			}
		}
		children = append(children, child)
	}
	return children, nil
}

// kindsOf are the kinds of the workloads that templates make.
var kindsOf = map[uniteddeployment.TemplateKind]schema.GroupVersionKind{
	uniteddeployment.StatefulSet:         appsv1.SchemeGroupVersion.WithKind("StatefulSet"),
	uniteddeployment.Deployment:          appsv1.SchemeGroupVersion.WithKind("Deployment"),
	uniteddeployment.AdvancedStatefulSet: v1beta1.SchemeGroupVersion.WithKind("StatefulSet"),
	uniteddeployment.CloneSet:            v1alpha1.SchemeGroupVersion.WithKind("CloneSet"),
}

func (p *Planner) fill(ctx context.Context, child *Child) error {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(child.Child.Object)
	if err != nil {
		return err
	}
	u := unstructured.Unstructured{Object: fields}
	kind := kindsOf[child.Child.Kind]
	u.SetGroupVersionKind(kind)
	child.Object = &workload.Object{Unstructured: u}
	if kind.Group == workload.Group {
		child.Plan, err = p.Plan(ctx, child.Object)
		return err
	}
	child.Plan = &Plan{}
	child.Plan.Pods, err = p.podsOf(ctx, child.Object)
	return err
}

// podsOf returns the pods that the selector of a workload of Kubernetes finds.
func (p *Planner) podsOf(ctx context.Context, of *workload.Object) ([]*corev1.Pod, error) {
	var read struct {
		Spec struct {
			Selector *metav1.LabelSelector `json:"selector"`
		} `json:"spec"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(of.Object, &read); err != nil {
		return nil, err
	}
	selector, err := metav1.LabelSelectorAsSelector(read.Spec.Selector)
	if err != nil {
		return nil, err
	}
	list, err := p.kube.CoreV1().Pods(of.GetNamespace()).List(ctx, metav1.ListOptions{LabelSelector: selector.String()})
	if err != nil {
		return nil, err
	}
	pods := make([]*corev1.Pod, len(list.Items))
	for i := range list.Items {
		pods[i] = &list.Items[i]
	}
	return pods, nil
}

// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/examples/kubectl-podwright/workload"
	"github.com/podwright/podwright/inplace/revision"
	sidecarv1alpha1 "github.com/podwright/podwright/sidecar/v1alpha1"
)

// revisions reads the history of workloads of a kind.
type revisions struct {
	kube    kubernetes.Interface
	dynamic dynamic.Interface
	mapping *meta.RESTMapping
}

func newRevisions(getter genericclioptions.RESTClientGetter, mapping *meta.RESTMapping) (*revisions, error) {
	config, err := getter.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	r := &revisions{mapping: mapping}
	if r.kube, err = kubernetes.NewForConfig(config); err != nil {
		return nil, err
	}
	r.dynamic, err = dynamic.NewForConfig(config)
	return r, err
}

// get reads a workload.
func (r *revisions) get(ctx context.Context, namespace, name string) (*workload.Object, error) {
	u, err := r.dynamic.Resource(r.mapping.Resource).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	return &workload.Object{Unstructured: *u}, nil
}

// of returns the history of a workload, the oldest revision first: those that it controls, and those without a
// controller that its selector finds. Those of a SidecarSet are in the namespace of the manager, wherever that is, and
// have its name in a label. (KC-5)
func (r *revisions) of(ctx context.Context, o *workload.Object) ([]*appsv1.ControllerRevision, error) {
	k := o.Kind()
	if k.Name == "BroadcastJob" {
		return nil, fmt.Errorf("the history of a %s is not supported", k.Words)
	}
	selector, options := labels.Nothing(), metav1.ListOptions{}
	if k.Name == "SidecarSet" {
		options.LabelSelector = sidecarv1alpha1.SidecarSetNameLabel + "=" + o.GetName()
	} else {
		var err error
		if selector, err = selectorOf(o); err != nil {
			return nil, err
		}
	}
	list, err := r.kube.AppsV1().ControllerRevisions(o.GetNamespace()).List(ctx, options)
	if err != nil {
		return nil, err
	}
	var history []*appsv1.ControllerRevision
	for i := range list.Items {
		candidate := &list.Items[i]
		owner := metav1.GetControllerOfNoCopy(candidate)
		if owner == nil && selector.Matches(labels.Set(candidate.Labels)) || owner != nil && owner.UID == o.GetUID() {
			history = append(history, candidate)
		}
	}
	history = revision.Usable(history)
	revision.Sort(history)
	return history, nil
}

// selectorOf returns the selector of a workload. One that selects everything selects nothing, as for its controller.
func selectorOf(o *workload.Object) (labels.Selector, error) {
	fields, found, err := unstructured.NestedMap(o.Object, "spec", "selector")
	if err != nil || !found || len(fields) == 0 {
		return labels.Nothing(), err
	}
	var selector metav1.LabelSelector
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &selector); err != nil {
		return nil, fmt.Errorf("spec.selector: %w", err)
	}
	return metav1.LabelSelectorAsSelector(&selector)
}

// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/kubectl/pkg/util/podutils"

	availabilityv1alpha1 "github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/examples/kubectl-podwright/workload"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Observer reads what surrounds a workload.
type Observer struct {
	Kubernetes kubernetes.Interface
	Lister     workload.Lister
	// Lease is the manager's, as NAMESPACE/NAME.
	Lease string
	// AgentNamespace and AgentSelector find the pods of the node agent.
	AgentNamespace, AgentSelector string
}

// Fill completes a situation that has its Object and Plan. What cannot be read is left unset, and is what the error is
// about: the rest is explained all the same.
func (o *Observer) Fill(ctx context.Context, s *Situation) error {
	var errs []error
	for _, fill := range []func(context.Context, *Situation) error{o.lease, o.nodes, o.agents, o.budgets, o.requests} {
		errs = append(errs, fill(ctx, s))
	}
	return errors.Join(errs...)
}

// FillLease completes a situation that has its Object with the Lease of the manager, which is all that Told depends on.
func (o *Observer) FillLease(ctx context.Context, s *Situation) error { return o.lease(ctx, s) }

func (o *Observer) lease(ctx context.Context, s *Situation) error {
	namespace, name, _ := strings.Cut(o.Lease, "/")
	lease, err := o.Kubernetes.CoordinationV1().Leases(namespace).Get(ctx, name, metav1.GetOptions{})
	s.LeaseName = o.Lease
	switch {
	case apierrors.IsNotFound(err):
		s.LeaseMissing = true
	case err != nil:
		return fmt.Errorf("the manager's Lease: %w", err)
	default:
		s.Lease = lease
	}
	return nil
}

func (o *Observer) nodes(ctx context.Context, s *Situation) error {
	list, err := o.Kubernetes.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("the nodes: %w", err)
	}
	s.Nodes = map[string]*corev1.Node{}
	for i := range list.Items {
		s.Nodes[list.Items[i].Name] = &list.Items[i]
	}
	return nil
}

func (o *Observer) agents(ctx context.Context, s *Situation) error {
	list, err := o.Kubernetes.CoreV1().Pods(o.AgentNamespace).List(ctx, metav1.ListOptions{LabelSelector: o.AgentSelector})
	if err != nil {
		return fmt.Errorf("the pods of the node agent: %w", err)
	}
	s.Agents = map[string]bool{}
	for i := range list.Items {
		if pod := &list.Items[i]; podutils.IsPodReady(pod) {
			s.Agents[pod.Spec.NodeName] = true
		}
	}
	return nil
}

func (o *Observer) budgets(ctx context.Context, s *Situation) (err error) {
	s.Budgets, err = workload.ListAs[availabilityv1alpha1.PodUnavailableBudget](ctx, o.Lister, schema.GroupKind{Group: "policy.kruise.io", Kind: "PodUnavailableBudget"}, s.Object.GetNamespace())
	return err
}

func (o *Observer) requests(ctx context.Context, s *Situation) (err error) {
	s.Requests, err = workload.ListAs[lifecyclev1alpha1.ContainerRecreateRequest](ctx, o.Lister, schema.GroupKind{Group: "apps.kruise.io", Kind: "ContainerRecreateRequest"}, s.Object.GetNamespace())
	return err
}

// SPDX-License-Identifier: Apache-2.0

// Package toy counts the pods that name a toy. It is a kind of the least size, by the check-list of CONTRIBUTING.
package toy

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/manifests"
	"github.com/podwright/podwright/internal/testing/toy/client"
	"github.com/podwright/podwright/internal/testing/toy/v1alpha1"
)

// Options says what a Controller works with. Kubernetes and Toy, which reads and writes toys, are required.
type Options struct {
	podwright.ControllerOptions
	Kubernetes kubernetes.Interface
	Toy        client.Interface
	Toys, Pods cache.SharedIndexInformer
}

// New returns a controller that is not yet running.
func New(o Options) (podwright.Controller[Snapshot, Plan], error) {
	return controller.New(controller.Setup[Snapshot, Plan]{
		Package: "toy", Objects: "toys", Options: &o.ControllerOptions, Reads: o.reads, Kind: o.kind,
		Check: func(c *controller.Checks) { c.Client(o.Kubernetes).KindClient("Toy", "toy", o.Toy != nil) },
	})
}

func (o *Options) reads() []controller.Read {
	return []controller.Read{
		{Resource: "toys", Object: &v1alpha1.Toy{}, LiveReader: apiwriter.Typed(o.Toy.Toys), Informer: &o.Toys,
			MakeInformer: controller.Maker(client.NewToyInformer, o.Toy, o.Namespace), Fields: controller.Workload, IsReconciled: true},
		{Resource: caches.Pods, Object: &corev1.Pod{}, Informer: &o.Pods, MakeInformer: caches.NewInformers(o.Kubernetes, o.Namespace).Pods, Indexes: []podwright.Index{caches.ByNamespace},
			Fields: podFields, Concern: controller.On(podChanged), CollectEvents: true},
	}
}

// podFields are the fields that a plan reads of pods.
const podFields = controller.Labels

// podChanged enqueues the toys that a pod names, or did before.
func podChanged(before, after *corev1.Pod, enqueue controller.Enqueue) {
	for _, pod := range []*corev1.Pod{before, after} {
		if pod != nil && pod.Labels["toy"] != "" {
			enqueue(types.NamespacedName{Namespace: pod.Namespace, Name: pod.Labels["toy"]})
		}
	}
}

func (o *Options) kind() controller.Definition[Snapshot, Plan] {
	w := apply.NewWriter(o.Kubernetes)
	w.Workloads, w.Merge = "toys", apiwriter.TypedMerge(o.Toy.Toys)
	return controller.Definition[Snapshot, Plan]{
		Name: "toy-controller", Writer: w, Observe: o.observe, Plan: NewPlan,
		Apply: func(ctx context.Context, s *Snapshot, plan *Plan) (time.Duration, error) {
			if plan.Status == s.Toy.Status {
				return 0, nil
			}
			return 0, w.Begin(s.Toy).WriteStatus(ctx, &s.Toy.Status, &plan.Status)
		},
	}
}

func (o *Options) observe(_ context.Context, key types.NamespacedName) (*Snapshot, error) {
	toy, err := caches.Object[v1alpha1.Toy](o.Reader, "toys", "Toy", key)
	if toy == nil || err != nil {
		return nil, err
	}
	pods, err := caches.All[*corev1.Pod](o.Reader, caches.Pods, key.Namespace)
	return &Snapshot{toy, pods}, err
}

// Describe returns what a program takes that runs toys, for package manager: the options are those of New.
func Describe(o Options) podwright.Kind {
	return controller.Describe("toy-controller", v1alpha1.SchemeGroupVersion.WithResource("toys"), o.Namespace, o, New, Rules)
}

// Rules returns the RBAC rules that a controller needs.
func Rules(Options) []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		manifests.Rule(v1alpha1.GroupName, "toys", "get list watch"), // get finds out what became of a write without an answer
		manifests.Rule(v1alpha1.GroupName, "toys/status", "patch"),
		manifests.Rule("", "pods", "list watch"),
	}
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/availability"
	"github.com/podwright/podwright/availability/client"
	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/examples/tests/testbed/rig"
)

const namespace = "shop" // of the pods

// bench is what is measured on.
type bench struct {
	options
	*rig.Rig
	budgets client.Interface
	times   times // of the webhook
}

func newBench(ctx context.Context, o options, log io.Writer) (*bench, error) {
	r, err := rig.Start(ctx, log, availability.CRDs(), namespace)
	if err != nil {
		return nil, err
	}
	b := &bench{options: o, Rig: r}
	if err := b.prepare(ctx); err != nil {
		return nil, errors.Join(err, r.Control.Stop())
	}
	return b, nil
}

func (r *bench) prepare(ctx context.Context) (err error) {
	if r.budgets, err = client.NewForConfig(r.Control.Config()); err != nil {
		return err
	}
	return rig.Until(ctx, "budgets to be served and pods to be created", func(ctx context.Context) error {
		if _, err := r.budgets.PodUnavailableBudgets(namespace).List(ctx, metav1.ListOptions{}); err != nil {
			return err
		}
		_, err := r.Core.CoreV1().Pods(namespace).Create(ctx, pod(0), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	})
}

// fill creates the pods that are missing, and has them be Ready.
func (r *bench) fill(ctx context.Context) error {
	pods := r.Core.CoreV1().Pods(namespace)
	filling, ctx := errgroup.WithContext(ctx)
	filling.SetLimit(r.parallel)
	for i := range r.pods + 1 {
		filling.Go(func() error {
			if _, err := pods.Create(ctx, pod(i), metav1.CreateOptions{}); apierrors.IsAlreadyExists(err) {
				return nil
			} else if err != nil {
				return err
			}
			ready := []byte(`{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`)
			_, err := pods.Patch(ctx, pod(i).Name, types.StrategicMergePatchType, ready, metav1.PatchOptions{}, "status")
			return err
		})
	}
	return filling.Wait()
}

// pod is one that is evicted. A gate keeps the scheduler away from it.
func pod(i int) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("web-", i), Namespace: namespace, Labels: map[string]string{"app": "web"}},
		Spec: corev1.PodSpec{
			SchedulingGates: []corev1.PodSchedulingGate{{Name: "podwright.io/measured"}},
			Containers:      []corev1.Container{{Name: "main", Image: "web:1"}},
		},
	}
}

// newBudget is one that lets all pods go that are evicted, or none. There is a pod more than these.
func (r *bench) newBudget(w way) *v1alpha1.PodUnavailableBudget {
	available := 1
	if w == letsNoneGo {
		available = r.pods + 1
	}
	return &v1alpha1.PodUnavailableBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: namespace, Annotations: map[string]string{v1alpha1.PubProtectTotalReplicasAnnotation: strconv.Itoa(r.pods + 1)}},
		Spec: v1alpha1.PodUnavailableBudgetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}, MinAvailable: new(intstr.FromInt(available)),
		},
	}
}

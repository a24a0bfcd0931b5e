// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/examples/tests/testbed/rig"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/sidecarset"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// way is how pods are injected.
type way string

const (
	noWebhook  way = "not"
	byPolicies way = "by policies"
	byWebhook  way = "by the webhook"
)

// measureSets measures with a number of SidecarSets, some of which match.
func (r *bench) measureSets(ctx context.Context, o options, w way, number, matching int) (of result, err error) {
	controllers, err := r.start(ctx, w)
	if err != nil {
		return result{}, err
	}
	stopped := false
	stop := func() error {
		if stopped {
			return nil
		}
		stopped = true
		return controllers.stop()
	}
	defer func() { err = errors.Join(err, stop(), r.removeSets(ctx)) }()
	for i := range number {
		if _, err := r.sidecar.SidecarSets().Create(ctx, sidecarSet(i, i < matching), metav1.CreateOptions{}); err != nil {
			return result{}, err
		}
	}
	var sets []*v1alpha1.SidecarSet
	if err := rig.Until(ctx, "all SidecarSets to be injected", func(ctx context.Context) error {
		if sets, err = r.setsOf(ctx, number); err != nil {
			return err
		}
		made, err := r.Core.CoreV1().Pods(namespace).Create(ctx, pod(0), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil {
			return err
		}
		return check(made, sets)
	}); err != nil {
		return result{}, err
	}
	if w == byPolicies {
		if err := stop(); err != nil {
			return result{}, err
		}
	}
	of, err = r.measure(ctx, o, sets)
	of.way, of.sidecarSets, of.matching = w, number, matching
	return of, err
}

// removeSets removes the SidecarSets, and waits until the garbage collector has removed what
// belongs to them.
func (r *bench) removeSets(ctx context.Context) error {
	if err := r.sidecar.SidecarSets().DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		return err
	}
	return rig.Until(ctx, "policies and revisions to be gone", func(ctx context.Context) error {
		policies, err := r.Core.AdmissionregistrationV1().MutatingAdmissionPolicies().List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		revisions, err := r.Core.AppsV1().ControllerRevisions(sidecarset.DefaultRevisionNamespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		if n := len(policies.Items) + len(revisions.Items); n > 0 {
			return fmt.Errorf("%d are left", n)
		}
		return nil
	})
}

// setsOf returns the SidecarSets, all of which have to have their revisions.
func (r *bench) setsOf(ctx context.Context, number int) (sets []*v1alpha1.SidecarSet, err error) {
	list, err := r.sidecar.SidecarSets().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for i := range list.Items {
		if list.Items[i].Status.LatestRevision != "" {
			sets = append(sets, &list.Items[i])
		}
	}
	if len(sets) != number {
		return nil, fmt.Errorf("%d SidecarSets have a revision", len(sets))
	}
	return sets, nil
}

// check wants a pod to have all containers and annotations that Inject computes: Inject finds nothing to add and nothing to
// replace.
func check(made *corev1.Pod, sets []*v1alpha1.SidecarSet) error {
	want, err := injection.Inject(injection.Input{Pod: made, SidecarSets: sets, Now: time.Now()})
	if err != nil {
		return err
	}
	if !equality.Semantic.DeepEqual(made.Spec, want.Pod.Spec) || !maps.Equal(made.Annotations, want.Pod.Annotations) {
		return fmt.Errorf("spec %+v and annotations %v, want %+v and %v", made.Spec, made.Annotations, want.Pod.Spec, want.Pod.Annotations)
	}
	return nil
}

// measure creates pods, checks and removes them.
func (r *bench) measure(ctx context.Context, o options, sets []*v1alpha1.SidecarSet) (result, error) {
	pods := r.Core.CoreV1().Pods(namespace)
	took := make([]time.Duration, o.pods)
	of := result{way: noWebhook, pods: o.pods}
	var lock sync.Mutex
	creating, creatingCtx := errgroup.WithContext(ctx)
	creating.SetLimit(o.parallel)
	for i := range o.pods {
		creating.Go(func() error {
			begin := time.Now()
			made, err := pods.Create(creatingCtx, pod(i), metav1.CreateOptions{})
			took[i] = time.Since(begin)
			if err != nil {
				return err
			}
			if err := check(made, sets); err != nil {
				return fmt.Errorf("pod %s: %w", made.Name, err)
			}
			lock.Lock()
			defer lock.Unlock()
			if len(sets) > 0 {
				of.injected++
			}
			return nil
		})
	}
	if err := creating.Wait(); err != nil {
		return of, err
	}
	slices.Sort(took)
	of.half, of.most, of.slowest = took[o.pods/2], took[o.pods*99/100], took[o.pods-1]
	now := int64(0)
	return of, pods.DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: &now}, metav1.ListOptions{})
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/sidecarset"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// way is how pods are injected.
type way string

const (
	nobody     way = "not"
	byPolicies way = "by policies"
	byWebhook  way = "by the webhook"
)

// measureSets measures with a number of SidecarSets, some of which match.
func (r *rig) measureSets(ctx context.Context, o options, w way, number, matching int) (of result, err error) {
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
	var expected *expectation
	if err := until(ctx, "all SidecarSets to be injected", func(ctx context.Context) error {
		if expected, err = r.expect(ctx, w, number); err != nil {
			return err
		}
		made, err := r.core.CoreV1().Pods(namespace).Create(ctx, pod(0), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil {
			return err
		}
		return expected.check(made)
	}); err != nil {
		return result{}, err
	}
	if w == byPolicies {
		if err := stop(); err != nil {
			return result{}, err
		}
	}
	of, err = r.measure(ctx, o, expected)
	of.way, of.sidecarSets, of.matching = w, number, matching
	return of, err
}

// removeSets removes the SidecarSets, and waits until the garbage collector has removed what
// belongs to them.
func (r *rig) removeSets(ctx context.Context) error {
	if err := r.sidecar.SidecarSets().DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		return err
	}
	return until(ctx, "policies and revisions to be gone", func(ctx context.Context) error {
		policies, err := r.core.AdmissionregistrationV1().MutatingAdmissionPolicies().List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		revisions, err := r.core.AppsV1().ControllerRevisions(sidecarset.DefaultRevisionNamespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		if n := len(policies.Items) + len(revisions.Items); n > 0 {
			return fmt.Errorf("%d are left", n)
		}
		return nil
	})
}

// expectation is what pods have to look like.
type expectation struct {
	way       way
	sets      []*v1alpha1.SidecarSet
	revisions map[string]*appsv1.ControllerRevision
}

// expect reads the SidecarSets, all of which have to have their revisions.
func (r *rig) expect(ctx context.Context, w way, number int) (*expectation, error) {
	sets, err := r.sidecar.SidecarSets().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	revisions, err := r.core.AppsV1().ControllerRevisions(sidecarset.DefaultRevisionNamespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	e := &expectation{way: w, revisions: map[string]*appsv1.ControllerRevision{}}
	for i := range revisions.Items {
		e.revisions[revisions.Items[i].Name] = &revisions.Items[i]
	}
	for i := range sets.Items {
		if e.revisions[sets.Items[i].Status.LatestRevision] == nil {
			return nil, fmt.Errorf("SidecarSet %s has no revision yet", sets.Items[i].Name)
		}
		e.sets = append(e.sets, &sets.Items[i])
	}
	if len(e.sets) != number {
		return nil, fmt.Errorf("there are %d SidecarSets", len(e.sets))
	}
	return e, nil
}

// check compares a pod with what Inject makes of it before it was injected: containers, and
// annotations but for the time of a webhook.
func (e *expectation) check(made *corev1.Pod) error {
	if e == nil {
		return nil
	}
	want, err := injection.Inject(injection.Input{Pod: pod(0), SidecarSets: e.sets, Now: time.Unix(0, 0)})
	if err != nil {
		return err
	}
	names := func(p *corev1.Pod) (all []string) {
		for _, c := range p.Spec.Containers {
			var env []string
			for _, v := range c.Env {
				env = append(env, v.Name+"="+v.Value)
			}
			all = append(all, c.Name+" "+strings.Join(env, " "))
		}
		return all
	}
	if got, want := names(made), names(want.Pod); !slices.Equal(got, want) {
		return fmt.Errorf("containers %v, want %v", got, want)
	}
	return e.checkAnnotations(made, want.Pod)
}

func (e *expectation) checkAnnotations(made, want *corev1.Pod) error {
	for _, key := range []string{v1alpha1.SidecarSetHashAnnotation, v1alpha1.SidecarSetHashWithoutImageAnnotation} {
		got, err := injection.Records(made, key)
		if err != nil {
			return err
		}
		wanted, err := injection.Records(want, key)
		if err != nil {
			return err
		}
		if len(got) != len(wanted) {
			return fmt.Errorf("%d records in %s, want %d", len(got), key, len(wanted))
		}
		for name, w := range wanted {
			g := got[name]
			w.UpdateTimestamp = g.UpdateTimestamp
			if e.way == byPolicies {
				w.UpdateTimestamp = metav1.NewTime(e.revision(name).CreationTimestamp.Time)
			}
			if !g.UpdateTimestamp.Equal(&w.UpdateTimestamp) || fmt.Sprint(g.SidecarSetHash, g.SidecarSetName, g.SidecarList, g.SidecarSetControllerRevision) !=
				fmt.Sprint(w.SidecarSetHash, w.SidecarSetName, w.SidecarList, w.SidecarSetControllerRevision) {
				return fmt.Errorf("record %+v in %s, want %+v", g, key, w)
			}
		}
	}
	if got, want := made.Annotations[v1alpha1.SidecarSetInjectedListAnnotation], want.Annotations[v1alpha1.SidecarSetInjectedListAnnotation]; got != want {
		return fmt.Errorf("injected list %q, want %q", got, want)
	}
	return nil
}

func (e *expectation) revision(set string) *appsv1.ControllerRevision {
	for _, s := range e.sets {
		if s.Name == set {
			return e.revisions[s.Status.LatestRevision]
		}
	}
	return &appsv1.ControllerRevision{}
}

// measure creates pods, checks and removes them.
func (r *rig) measure(ctx context.Context, o options, expected *expectation) (result, error) {
	pods := r.core.CoreV1().Pods(namespace)
	took := make([]time.Duration, o.pods)
	of := result{way: nobody, pods: o.pods}
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
			if err := expected.check(made); err != nil {
				return fmt.Errorf("pod %s: %w", made.Name, err)
			}
			lock.Lock()
			defer lock.Unlock()
			if expected != nil {
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

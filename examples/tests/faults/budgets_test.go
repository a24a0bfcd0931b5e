// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/examples/tests/faults/invariants"
	"github.com/podwright/podwright/examples/tests/testbed"
	"github.com/podwright/podwright/examples/tests/testbed/drains"
	"github.com/podwright/podwright/examples/tests/testbed/mirror"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
)

// createBudget creates the budget of the guarded CloneSet, which is older than its pods.
func (s *story) createBudget() {
	s.Helper()
	client := budgets.PodUnavailableBudgets(s.Namespace)
	s.budgets = testbed.Follow(s.Scene, mirror.Of(client), invariants.Observe[*v1alpha1.PodUnavailableBudget](s.record))
	b := &v1alpha1.PodUnavailableBudget{ObjectMeta: metav1.ObjectMeta{Name: clonedGuarded}, Spec: v1alpha1.PodUnavailableBudgetSpec{
		TargetReference: &v1alpha1.TargetReference{APIVersion: workloadsv1alpha1.SchemeGroupVersion.String(), Kind: "CloneSet", Name: clonedGuarded},
		MaxUnavailable:  new(intstr.FromInt32(1)),
	}}
	if _, err := client.Create(s.Context(), b, metav1.CreateOptions{}); err != nil {
		s.Fatalf("create PodUnavailableBudget %s: %v", b.Name, err)
	}
}

// budgetUnsettled: all pods are available, of which one may go, and none is on its way.
func budgetUnsettled(b *v1alpha1.PodUnavailableBudget) string {
	st := b.Status
	if st.ObservedGeneration == b.Generation && st.TotalReplicas == 5 && st.CurrentAvailable == 5 && st.DesiredAvailable == 4 && st.UnavailableAllowed == 1 &&
		len(st.DisruptedPods)+len(st.UnavailablePods)+len(st.PodUIDs) == 0 {
		return ""
	}
	return fmt.Sprintf("status %+v", st)
}

// disruptions counts what users wanted to do to the guarded pods.
type disruptions struct {
	done, denied, unanswered, drained atomic.Int32
	took                              time.Duration // all drains
}

func (d *disruptions) String() string {
	return fmt.Sprintf("%d evictions and deletions were allowed, %d denied, %d not answered, and %d pods drained after that in %.1f s",
		d.done.Load(), d.denied.Load(), d.unanswered.Load(), d.drained.Load(), d.took.Seconds())
}

// disrupt has users evict and delete the guarded pods, several at once, until stop is called.
func (s *story) disrupt() (stop func()) {
	ctx, cancel := context.WithCancel(s.Context())
	var users sync.WaitGroup
	for range 3 {
		random := rand.New(rand.NewPCG(s.seed, s.random.Uint64()))
		users.Go(func() {
			for ctx.Err() == nil {
				if pods := s.active(clonedGuarded); len(pods) > 0 {
					s.disruptOne(ctx, pods[random.IntN(len(pods))], random.IntN(3) == 0)
				}
				select {
				case <-ctx.Done():
				case <-time.After(time.Duration(random.IntN(300)) * time.Millisecond): // users do not agree on moments
				}
			}
		})
	}
	return func() {
		cancel()
		users.Wait()
	}
}

// disruptOne evicts or deletes a pod, once.
func (s *story) disruptOne(ctx context.Context, pod *corev1.Pod, remove bool) {
	ctx, cancel := context.WithTimeout(ctx, userPatience)
	defer cancel()
	var err error
	if remove {
		err = bed.Core.CoreV1().Pods(s.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
			GracePeriodSeconds: new(int64(invariants.UserGracePeriod)), Preconditions: metav1.NewUIDPreconditions(string(pod.UID))})
	} else {
		err = s.evict(ctx, pod)
	}
	switch {
	case err == nil:
		s.note("a user lets %s go: %s", pod.Name, map[bool]string{true: "deleted", false: "evicted"}[remove])
		s.disruptions.done.Add(1)
	case apierrors.IsTooManyRequests(err) && apierrors.HasStatusCause(err, policyv1.DisruptionBudgetCause) || apierrors.IsForbidden(err):
		s.disruptions.denied.Add(1)
	case !apierrors.IsNotFound(err) && !apierrors.IsConflict(err):
		s.disruptions.unanswered.Add(1)
	}
}

// evict evicts a pod, once.
func (s *story) evict(ctx context.Context, pod *corev1.Pod) error {
	return drains.Evict(ctx, bed.Core, s.Namespace, pod.Name, &metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(pod.UID))})
}

// drain evicts one guarded pod, and those whose eviction was denied, as who drains nodes: again and again, until they have
// gone. All do, whatever has broken before.
func (s *story) drain() {
	s.Helper()
	first, begin := true, time.Now()
	defer func() { s.disruptions.took += time.Since(begin) }()
	s.AwaitAsking("what a budget allows goes", func() string {
		s.managers.revive()
		left := ""
		for _, pod := range s.active(clonedGuarded) {
			if _, denied := pod.Annotations[lifecyclev1alpha1.EvictionDeniedAnnotation]; !denied && !first {
				continue
			}
			ctx, cancel := s.within(userPatience)
			err := s.evict(ctx, pod)
			cancel()
			left = fmt.Sprintf("%s: %v", pod.Name, err)
			if err == nil {
				first = false
				s.disruptions.drained.Add(1)
			}
		}
		return left
	})
}

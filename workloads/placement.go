// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/internal/manifests"
)

// Placement says to which nodes a pod goes that a workload is about to create. It says so by the pod's node selector, affinity,
// tolerations and whatever else of it is to differ from the template. So no webhook is needed for that.
//
// It is asked once before every request that creates a pod, by several goroutines at the same time. What
// the pod is called, which labels select it, and who owns it stays unchanged.
type Placement interface {
	// PlacePod returns the pod to create: the one that was given, which it does not
	// change, or a changed copy. An error holds back this pod, is reported as that of its
	// creation, and asked again with the next attempt.
	PlacePod(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error)
}

// Placements are several, each of which is given what the one before returned. The first error ends
// it. A nil one is left out.
type Placements []Placement

// PlacePod asks all of them.
func (all Placements) PlacePod(ctx context.Context, pod *corev1.Pod) (_ *corev1.Pod, err error) {
	for _, p := range all {
		if p == nil {
			continue
		}
		if pod, err = p.PlacePod(ctx, pod); err != nil {
			return nil, err
		}
	}
	return pod, nil
}

// Rules returns the RBAC rules that all of them need which say so by a method Rules, as those of package distribution do.
func (all Placements) Rules() (rules []rbacv1.PolicyRule) {
	for _, p := range all {
		rules = append(rules, manifests.Of(p)...)
	}
	return rules
}

// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/availability/v1alpha1"
)

// Guard is asked by a caller that is about to take a pod down, so that budgets hold without a
// webhook. podunavailablebudget.NewGuard makes one. Implementations are safe for use by several
// goroutines.
type Guard interface {
	// Allow answers whether the pod may be deleted, evicted or updated now, as it was before. If
	// it may, that is booked before Allow returns, and stays so for DisruptedFor or
	// UnavailableFor: the caller does it at once. To ask again meanwhile is allowed and takes
	// nothing more. An error means that it is not known, and that it must not be done; it
	// may be booked all the same.
	Allow(ctx context.Context, pod *corev1.Pod, operation v1alpha1.PubOperation) (Decision, error)
}

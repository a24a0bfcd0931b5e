// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DeleteOver deletes the workload, a job that was over long enough, if it is still this one.
func (p *Sync) DeleteOver(ctx context.Context, remove func(ctx context.Context, name string, o metav1.DeleteOptions) error) error {
	uid := p.Workload.GetUID()
	err := remove(ctx, p.Key.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	err = fmt.Errorf("delete the job, which was over long enough: %w", err)
	p.RecordFailure(Delete, err)
	return err
}

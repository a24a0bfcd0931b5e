// SPDX-License-Identifier: Apache-2.0

package fakecluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/yaml"
)

// patience is how long Eventually waits if the context has no deadline.
const patience = time.Minute

// Eventually gets an object again and again until it is as wanted, and returns it so. It waits until the deadline of the context, a
// minute if it has none. The error then names what was waited for, and shows the last object, or the last error of get.
//
//	set, err := fakecluster.Eventually(ctx, "3 pods are ready",
//		func(ctx context.Context) (*v1alpha1.CloneSet, error) { return sets.Get(ctx, "web", metav1.GetOptions{}) },
//		func(set *v1alpha1.CloneSet) bool { return set.Status.ReadyReplicas == 3 })
//
// In a testing/synctest bubble no real time passes.
func Eventually[T any](ctx context.Context, what string, get func(context.Context) (T, error), wanted func(T) bool) (T, error) {
	var (
		last    T
		lastErr error
	)
	start := time.Now()
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, patience)
		defer cancel()
	}
	err := wait.PollUntilContextCancel(ctx, time.Millisecond, true, func(ctx context.Context) (bool, error) {
		object, err := get(ctx)
		if ctx.Err() != nil && err != nil {
			return false, nil // the error before tells more
		}
		last, lastErr = object, err
		return err == nil && wanted(object), nil
	})
	switch {
	case err == nil:
		return last, nil
	case lastErr != nil:
		return last, fmt.Errorf("waited %s until %s: %w", time.Since(start).Round(time.Millisecond), what, errors.Join(err, lastErr))
	}
	shown, yamlErr := yaml.Marshal(last)
	if yamlErr != nil {
		shown = fmt.Append(nil, last)
	}
	return last, fmt.Errorf("waited %s until %s: %w; it is\n%s", time.Since(start).Round(time.Millisecond), what, err, shown)
}

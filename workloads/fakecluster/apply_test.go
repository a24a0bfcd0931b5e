// SPDX-License-Identifier: Apache-2.0

package fakecluster_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/workloads/fakecluster"
)

// TestApply: managers own what they apply. Another one is told of the conflict, and what a manager no longer applies goes.
// "apply" has a manager apply the data of a ConfigMap, and "update" has a client add data.
func TestApply(t *testing.T) {
	type row struct {
		Manager string
		Force   bool
		Data    map[string]string
	}
	maps := kubernetes.NewForConfigOrDie(fakecluster.New().Config("test")).CoreV1().ConfigMaps("shop")
	patches.PlayRows(t, "testdata/apply", func() row { return row{} }, func(t *testing.T, command string, r *row) string {
		ctx := t.Context()
		var got *corev1.ConfigMap
		var err error
		if command == "apply" {
			got, err = maps.Apply(ctx, applycorev1.ConfigMap("settings", "shop").WithData(r.Data), metav1.ApplyOptions{FieldManager: r.Manager, Force: r.Force})
		} else if got, err = maps.Get(ctx, "settings", metav1.GetOptions{}); err == nil {
			got.Data = labels.Merge(got.Data, r.Data)
			got, err = maps.Update(ctx, got, metav1.UpdateOptions{})
		}
		if err != nil {
			return err.Error()
		}
		return labels.Set(got.Data).String()
	})
}

// TestEventually: its error tells what was waited for and what there is, or why it cannot be read.
func TestEventually(t *testing.T) {
	never := func(*corev1.Pod) bool { return false }
	for name, c := range map[string]struct {
		get  func(context.Context) (*corev1.Pod, error)
		want []string
	}{
		"it never comes": {func(context.Context) (*corev1.Pod, error) {
			return &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodPending}}, nil
		}, []string{"waited 1m0s until the pod runs", "phase: Pending"}},
		"it cannot be read": {func(context.Context) (*corev1.Pod, error) { return nil, errors.New("no such pod") },
			[]string{"waited 1m0s until the pod runs", "no such pod"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, err := fakecluster.Eventually(t.Context(), "the pod runs", c.get, never)
				for _, part := range c.want {
					if err == nil || !strings.Contains(err.Error(), part) {
						t.Errorf("error %v, want %q in it", err, part)
					}
				}
			})
		})
	}
}

// TestRun: the first error of a program ends the others, and is returned. An end of the context is none.
func TestRun(t *testing.T) {
	broken := errors.New("broken")
	waits := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	err := fakecluster.New().Run(t.Context(), time.Millisecond, waits, func(context.Context) error { return broken })
	if !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(broken)
	if err := fakecluster.New().Run(ctx, time.Millisecond, waits); err != nil {
		t.Errorf("error %v after an end", err)
	}
}

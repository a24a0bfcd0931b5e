// SPDX-License-Identifier: Apache-2.0

package fakecluster_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/workloads/fakecluster"
)

// TestApply: managers own what they apply. Another one is told of the conflict, and what a manager no longer applies goes.
func TestApply(t *testing.T) {
	ctx, cluster := t.Context(), fakecluster.New()
	maps := kubernetes.NewForConfigOrDie(cluster.Config("test")).CoreV1().ConfigMaps("shop")
	apply := func(manager string, force bool, data map[string]string) (*corev1.ConfigMap, error) {
		return maps.Apply(ctx, applycorev1.ConfigMap("settings", "shop").WithData(data), metav1.ApplyOptions{FieldManager: manager, Force: force})
	}
	steps := []struct {
		what, manager string
		force         bool
		data          map[string]string
		conflict      bool
		want          map[string]string
	}{
		{"creates", "a", false, map[string]string{"x": "1", "y": "1"}, false, map[string]string{"x": "1", "y": "1"}},
		{"adds its own", "b", false, map[string]string{"z": "2"}, false, map[string]string{"x": "1", "y": "1", "z": "2"}},
		{"conflicts", "b", false, map[string]string{"x": "2"}, true, nil},
		{"takes by force", "b", true, map[string]string{"x": "2"}, false, map[string]string{"x": "2", "y": "1"}},
		{"leaves what the other has taken", "a", false, map[string]string{}, false, map[string]string{"x": "2"}},
	}
	for _, step := range steps {
		got, err := apply(step.manager, step.force, step.data)
		if apierrors.IsConflict(err) != step.conflict || err != nil && !step.conflict {
			t.Fatalf("%s %s: error %v", step.manager, step.what, err)
		}
		if step.conflict {
			continue
		}
		if diff := cmp.Diff(step.want, got.Data); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", step.manager, step.what, diff)
		}
	}
	found, err := maps.Get(ctx, "settings", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	found.Data["x"] = "3"
	if _, err := maps.Update(ctx, found, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := apply("b", false, map[string]string{"x": "2"}); !apierrors.IsConflict(err) || !strings.Contains(err.Error(), `"test"`) {
		t.Errorf("error %v, want a conflict with the client that has updated the field", err)
	}
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

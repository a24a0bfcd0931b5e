// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// LC-29
func TestAwaitsEviction(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name, denied string
		deleted      bool
		want         time.Duration
	}{
		{"never denied", "", false, 0},
		{"just now", "2026-01-01T12:00:00Z", false, 5 * time.Minute},
		{"in another zone", "2026-01-01T13:58:00+02:00", false, 3 * time.Minute},
		{"five minutes ago", "2026-01-01T11:55:00Z", false, 0},
		{"yesterday", "2025-12-31T12:00:00Z", false, 0},
		{"by a clock that is ahead", "2026-01-01T12:10:00Z", false, 5 * time.Minute},
		{"no time", "now", false, 0},
		{"a pod that goes already", "2026-01-01T12:00:00Z", true, 0},
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{v1alpha1.EvictionDeniedAnnotation: test.denied}}}
		if test.deleted {
			pod.DeletionTimestamp = new(metav1.NewTime(now))
		}
		if got := AwaitsEviction(pod, now); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package podplan

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/patches"
)

func TestBackOff(t *testing.T) {
	web, now := types.NamespacedName{Namespace: "shop", Name: "web"}, time.Unix(1000, 0)
	none := func(string) bool { return false }
	var p BackOff
	for i, want := range []time.Duration{1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300} {
		p.Replaced(web, "web-0", now)
		if got := p.Until(web, now, none)["web-0"].Sub(now); got != want*time.Second {
			t.Errorf("after %d replacements: waits %v, want %v s", i+1, got, int(want))
		}
	}
	if got := p.Until(types.NamespacedName{Name: "other"}, now, none); got != nil {
		t.Errorf("another workload waits: %v", got)
	}
	if got := p.Until(web, now, func(name string) bool { return name == "web-0" }); got != nil || len(p.known) != 0 {
		t.Errorf("a pod ran, and waits: %v, %v", got, p.known)
	}
	p.Replaced(web, "web-0", now)
	if got := p.Until(web, now.Add(time.Hour), none); got != nil || len(p.known) != 0 {
		t.Errorf("it is long ago, and known: %v, %v", got, p.known)
	}
	p.Replaced(web, "web-0", now)
	if p.Forget(web); len(p.known) != 0 {
		t.Errorf("forgotten, and known: %v", p.known)
	}
}

func TestHasRun(t *testing.T) {
	patches.PlayRows(t, "testdata/ran.txt", nil, func(_ *testing.T, _ string, status *corev1.ContainerStatus) string {
		return fmt.Sprint(HasRun(&corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{*status}}}))
	})
}

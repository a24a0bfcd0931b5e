// SPDX-License-Identifier: Apache-2.0

package podplan

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/patches"
)

// CT-8: rejected pods are replaced at once as often as pods are wanted, and then more and more slowly, until one runs. Pods are created
// at that second, and so many, one a second. It shows when the last rejected pod was created, and how much later the next one is.
func TestRejected(t *testing.T) {
	type row struct {
		Wanted int32
		Pods   []struct {
			At, Times int
			Phase     corev1.PodPhase
			Ran       bool
		}
	}
	blank := func() row { return row{Wanted: 3} }
	patches.PlayRows(t, "testdata/rejected.txt", blank, func(_ *testing.T, _ string, r *row) string {
		var pods []*corev1.Pod
		for _, of := range r.Pods {
			for i := range max(of.Times, 1) {
				p := &corev1.Pod{Status: corev1.PodStatus{Phase: of.Phase, Reason: "OutOfcpu"}}
				if p.CreationTimestamp = metav1.Unix(int64(of.At+i), 0); of.Ran {
					p.Status.ContainerStatuses = []corev1.ContainerStatus{{ContainerID: "c"}}
				}
				pods = append(pods, p)
			}
		}
		rejected := Rejected(pods)
		if rejected.last == nil {
			return fmt.Sprint(rejected.pods, " rejected")
		}
		wait := time.Duration(0)
		if until := rejected.Until(r.Wanted); !until.IsZero() {
			wait = until.Sub(rejected.last.CreationTimestamp.Time)
		}
		last := rejected.last.CreationTimestamp.Unix()
		return fmt.Sprintf("%d rejected, the last at %d, %s, the next after %s", rejected.pods, last, rejected.Reason(), wait)
	})
}

// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"math"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// Unlimited is the limit of a subset that takes as many pods as come.
const Unlimited int32 = -1

// limit is how many pods a subset takes, of a total that the workload wants; Unlimited without
// maxReplicas. One that cannot be read takes none. (WS-2)
func limit(subset *v1alpha1.WorkloadSpreadSubset, total int32) int32 {
	value := subset.MaxReplicas
	switch {
	case value == nil:
		return Unlimited
	case value.Type == intstr.Int:
		return max(value.IntVal, 0)
	}
	percent, _ := percentage(value.StrVal)
	return int32(min((percent*int64(total)+99)/100, math.MaxInt32))
}

// percentage reads a percentage from 0% to 100%; false, and 0, for anything else.
func percentage(text string) (int64, bool) {
	digits, found := strings.CutSuffix(text, "%")
	percent, err := strconv.ParseUint(digits, 10, 31)
	if !found || err != nil || percent > 100 || strings.HasPrefix(digits, "+") || len(digits) > 1 && digits[0] == '0' {
		return 0, false
	}
	return int64(percent), true
}

// InPercent tells whether the limits of a WorkloadSpread are percentages.
func InPercent(ws *v1alpha1.WorkloadSpread) bool {
	for i := range ws.Spec.Subsets {
		if value := ws.Spec.Subsets[i].MaxReplicas; value != nil && value.Type == intstr.String {
			return true
		}
	}
	return false
}

// schedulable tells whether pods are sent to a subset. (WS-17)
func schedulable(ws *v1alpha1.WorkloadSpread, subset string) bool {
	if rescheduleAfter(ws) == 0 {
		return true
	}
	c := condition(statusOf(&ws.Status, subset))
	return c == nil || c.Status != corev1.ConditionFalse
}

// statusOf is the status of a subset; nil if there is none.
func statusOf(status *v1alpha1.WorkloadSpreadStatus, subset string) *v1alpha1.WorkloadSpreadSubsetStatus {
	for i := range status.SubsetStatuses {
		if status.SubsetStatuses[i].Name == subset {
			return &status.SubsetStatuses[i]
		}
	}
	return nil
}

// tally counts the pods of a subset.
type tally struct {
	limit int32
	open  bool  // for new pods (WS-17)
	share int32 // of what the workload wants
	all   int32 // its pods that have not ended, and the reserved ones
	same  int32 // of those, the ones of a revision
}

// full tells whether a subset takes no more.
func (t *tally) full() bool { return t.limit != Unlimited && t.all >= t.limit }

// share fills the subsets in their order with what the workload wants. Those that are not open keep
// what they have. (WS-3)
func share(tallies []tally, wants int32) {
	left := wants
	for i := range tallies {
		if t := &tallies[i]; !t.open {
			t.share = min(t.all, left)
			if t.limit != Unlimited {
				t.share = min(t.share, t.limit)
			}
			left -= t.share
		}
	}
	for i := range tallies {
		if t := &tallies[i]; t.open {
			t.share = left
			if t.limit != Unlimited {
				t.share = min(left, t.limit)
			}
			left -= t.share
		}
	}
}

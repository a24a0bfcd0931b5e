// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// Rounding says what becomes of the fraction of a pod.
type Rounding bool

const (
	// RoundDown drops the fraction.
	RoundDown Rounding = false
	// RoundUp makes a whole pod of the fraction.
	RoundUp Rounding = true
)

// defaultMaxUnavailable is the percentage meant by a maxUnavailable of nil.
const defaultMaxUnavailable = 20

// Partition returns how many pods stay at the old revision, between 0 and
// replicas.
//
// A number counts pods. A percentage, which may have a fraction ("12.5%"), is
// rounded up. But unless it is written exactly "100%", one of several replicas
// is always left to update. Nil means 0. A string without "%" is an error.
// (CS-5)
func Partition(partition *intstr.IntOrString, replicas int32) (int32, error) {
	replicas = max(replicas, 0)
	if partition == nil {
		return 0, nil
	}
	if partition.Type == intstr.Int {
		return min(max(partition.IntVal, 0), replicas), nil
	}
	digits, isPercent := strings.CutSuffix(partition.StrVal, "%")
	percent, err := strconv.ParseFloat(digits, 64)
	if !isPercent || err != nil || math.IsNaN(percent) || math.IsInf(percent, 0) {
		return 0, fmt.Errorf("partition: found %q, want a number such as 3 or a percentage such as \"12.5%%\"", partition.String())
	}
	n := share(percent, replicas, RoundUp)
	if n == replicas && replicas > 1 && partition.StrVal != "100%" {
		n--
	}
	return min(n, replicas), nil
}

// MaxSurge returns how many pods there may be beyond replicas. A percentage is
// rounded up. Nil means 0. The error is that of [Count]. (CS-6)
func MaxSurge(maxSurge *intstr.IntOrString, replicas int32) (int32, error) {
	if maxSurge == nil {
		return 0, nil
	}
	return Count("maxSurge", *maxSurge, replicas, RoundUp)
}

// MaxUnavailable returns how many of the replicas may be unavailable during an
// update. A percentage is rounded up if maxSurge (in pods) is 0, so that
// there is always one that can be updated, and down otherwise. Nil means 20%.
// The error is that of [Count]. (CS-6)
func MaxUnavailable(maxUnavailable *intstr.IntOrString, replicas, maxSurge int32) (int32, error) {
	rounding := Rounding(maxSurge <= 0)
	if maxUnavailable == nil {
		return share(defaultMaxUnavailable, replicas, rounding), nil
	}
	return Count("maxUnavailable", *maxUnavailable, replicas, rounding)
}

// ScaleMaxUnavailable returns how many pods may be unavailable while pods are
// created. A percentage is rounded up. Nil means no limit, [math.MaxInt32].
// The error is that of [Count]. (CS-6)
func ScaleMaxUnavailable(maxUnavailable *intstr.IntOrString, replicas int32) (int32, error) {
	if maxUnavailable == nil {
		return math.MaxInt32, nil
	}
	return Count("scaleStrategy.maxUnavailable", *maxUnavailable, replicas, RoundUp)
}

// Count turns a number or a whole percentage of replicas into a number of
// pods. A string without "%" is read as a percentage too: "30" is "30%". A
// negative value counts as 0. A string that is neither is an error, which calls
// the value by the given field.
func Count(field string, value intstr.IntOrString, replicas int32, rounding Rounding) (int32, error) {
	if value.Type == intstr.Int {
		return max(value.IntVal, 0), nil
	}
	percent, err := strconv.ParseInt(strings.TrimSuffix(value.StrVal, "%"), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: found %q, want a number such as 3 or a whole percentage such as \"30%%\"", field, value.StrVal)
	}
	return share(float64(percent), replicas, rounding), nil
}

// share returns a percentage of replicas, between 0 and MaxInt32.
func share(percent float64, replicas int32, rounding Rounding) int32 {
	pods := percent * float64(max(replicas, 0)) / 100
	if rounding == RoundUp {
		pods = math.Ceil(pods)
	}
	return int32(min(max(pods, 0), math.MaxInt32))
}

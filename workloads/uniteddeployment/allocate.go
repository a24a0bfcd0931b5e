// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Allocation is how the replicas of a UnitedDeployment are split over its subsets.
type Allocation struct {
	// Replicas holds the number of each subset, in the order of the subsets. If there is a
	// subset, they add up to the replicas that were split.
	Replicas []int32
	// Resolved says that what the subsets ask for does not add up, and was changed. (UD-3.2)
	Resolved bool
}

// Allocate splits replicas over subsets. Current is the number that the workload of a subset
// has, by name; nil, and subsets that are not in it, count as 0. Negative replicas count as 0.
// The error names a subset whose replicas cannot be read. (UD-3)
func Allocate(replicas int32, subsets []v1alpha1.Subset, current map[string]int32) (Allocation, error) {
	replicas = max(replicas, 0)
	a := Allocation{Replicas: make([]int32, len(subsets))}
	weights := make([]uint64, len(subsets))
	var open []int
	var sum int64
	for i := range subsets {
		if subsets[i].Replicas == nil {
			open = append(open, i)
			continue
		}
		n, weight, err := specified(subsets[i].Replicas, replicas)
		if err != nil {
			return Allocation{}, fmt.Errorf("spec.topology.subsets[%d].replicas: %w", i, err)
		}
		a.Replicas[i], weights[i], sum = n, weight, sum+int64(n)
	}
	rest := int64(replicas) - sum
	switch {
	case rest < 0, rest > 0 && len(open) == 0 && len(subsets) > 0:
		a.Resolved = true
		share(replicas, weights, a.Replicas)
	case len(open) > 0:
		spread(int32(rest), subsets, open, current, a.Replicas)
	}
	return a, nil
}

// allocateWithin is Allocate with minReplicas and maxReplicas of subsets. Each gets its minimum,
// and what is left fills them in their order, each up to its maximum. If no subset has
// either it is Allocate, which reads neither. A subset with replicas gets these. (UD-20)
func allocateWithin(replicas int32, subsets []v1alpha1.Subset, current map[string]int32) (Allocation, error) {
	if !limited(subsets) {
		return Allocate(replicas, subsets, current)
	}
	replicas = max(replicas, 0)
	least, most := make([]uint64, len(subsets)), make([]uint64, len(subsets))
	a := Allocation{Replicas: make([]int32, len(subsets))}
	var sumLeast, sumMost int64
	room := make([]int32, len(subsets))
	for i := range subsets {
		l, err := limitsOf(&subsets[i], replicas)
		if err != nil {
			return Allocation{}, fmt.Errorf("spec.topology.subsets[%d].%w", i, err)
		}
		a.Replicas[i], room[i] = l.least, l.most-l.least
		least[i], most[i] = l.leastWeight, l.mostWeight
		sumLeast, sumMost = sumLeast+int64(l.least), sumMost+int64(l.most)
		a.Resolved = a.Resolved || l.crossed
	}
	switch {
	case sumLeast > int64(replicas):
		a.Resolved = true
		share(replicas, least, a.Replicas)
	case sumMost < int64(replicas):
		a.Resolved = true
		share(replicas, most, a.Replicas)
	default:
		left := replicas - int32(sumLeast)
		for i := range room {
			more := min(room[i], left)
			a.Replicas[i] += more
			left -= more
		}
	}
	return a, nil
}

// limited tells whether a subset has a minimum or a maximum.
func limited(subsets []v1alpha1.Subset) bool {
	return slices.ContainsFunc(subsets, func(s v1alpha1.Subset) bool { return s.MinReplicas != nil || s.MaxReplicas != nil })
}

// limits are the least and the most pods of a subset.
type limits struct {
	least, most             int32
	leastWeight, mostWeight uint64 // hundredths of a pod
	// crossed says that the minimum is above the maximum, which then counts.
	crossed bool
}

// limitsOf returns the limits of a subset: its replicas, if it has them. No maximum is
// more than there can be. (UD-20)
func limitsOf(subset *v1alpha1.Subset, replicas int32) (l limits, err error) {
	l.most, l.mostWeight = math.MaxInt32, 100*math.MaxInt32
	if subset.Replicas != nil {
		if l.least, l.leastWeight, err = specified(subset.Replicas, replicas); err != nil {
			return l, fmt.Errorf("replicas: %w", err)
		}
		l.most, l.mostWeight = l.least, l.leastWeight
		return l, nil
	}
	if subset.MinReplicas != nil {
		if l.least, l.leastWeight, err = specified(subset.MinReplicas, replicas); err != nil {
			return l, fmt.Errorf("minReplicas: %w", err)
		}
	}
	if subset.MaxReplicas != nil {
		if l.most, l.mostWeight, err = specified(subset.MaxReplicas, replicas); err != nil {
			return l, fmt.Errorf("maxReplicas: %w", err)
		}
	}
	if l.crossed = l.least > l.most; l.crossed {
		l.least, l.leastWeight = l.most, l.mostWeight
	}
	return l, nil
}

// specified returns the number that a subset asks for. It also returns what it counts against
// the others if these do not add up, in hundredths of a pod. (UD-3.1)
func specified(wanted *intstr.IntOrString, replicas int32) (n int32, weight uint64, err error) {
	if wanted.Type == intstr.Int {
		if wanted.IntVal < 0 {
			return 0, 0, fmt.Errorf("must be 0 or more, is %d", wanted.IntVal)
		}
		return wanted.IntVal, 100 * uint64(wanted.IntVal), nil
	}
	percent, err := parsePercent(wanted.StrVal)
	if err != nil {
		return 0, 0, err
	}
	weight = uint64(replicas) * percent
	return int32((weight + 50) / 100), weight, nil
}

// givenNumbers adds up the numbers of pods that subsets give, tells whether one does, and names those that
// give none, or a percentage.
func givenNumbers(subsets []v1alpha1.Subset) (sum int64, some bool, open []string) {
	for i := range subsets {
		if n := subsets[i].Replicas; n != nil && n.Type == intstr.Int {
			sum, some = sum+int64(max(n.IntVal, 0)), true
			continue
		}
		open = append(open, subsets[i].Name)
	}
	return sum, some, open
}

// withoutPercentages are the subsets with percentages left out, which are of nothing. (UD-3.4)
func withoutPercentages(subsets []v1alpha1.Subset) []v1alpha1.Subset {
	subsets = slices.Clone(subsets)
	for i := range subsets {
		if n := subsets[i].Replicas; n != nil && n.Type == intstr.String {
			subsets[i].Replicas = nil
		}
	}
	return subsets
}

// allNumbers tells whether there are subsets, and each gives a number of pods.
func allNumbers(subsets []v1alpha1.Subset) bool {
	_, some, open := givenNumbers(subsets)
	return some && len(open) == 0
}

// parsePercent reads a whole percentage from 0% to 100%.
func parsePercent(text string) (uint64, error) {
	digits, found := strings.CutSuffix(text, "%")
	percent, err := strconv.ParseUint(digits, 10, 32)
	if !found || err != nil || percent > 100 {
		return 0, fmt.Errorf("must be a number of pods or a whole percentage from 0%% to 100%%, is %q", text)
	}
	return percent, nil
}

// spread splits the rest equally over the open subsets. The odd ones go to those that have
// the most now, and among equals to the last by name. (UD-3.3)
func spread(rest int32, subsets []v1alpha1.Subset, open []int, current map[string]int32, into []int32) {
	slices.SortFunc(open, func(a, b int) int {
		x, y := subsets[a].Name, subsets[b].Name
		return cmp.Or(cmp.Compare(current[x], current[y]), cmp.Compare(x, y))
	})
	average, odd := rest/int32(len(open)), int(rest)%len(open)
	for i, at := range open {
		into[at] = average
		if i >= len(open)-odd {
			into[at]++
		}
	}
}

// share splits replicas in the proportion of the weights, equally if all are 0. What
// rounding leaves goes to those that it cost most, of equal ones to the first. (UD-3.2)
func share(replicas int32, weights []uint64, into []int32) {
	var total uint64
	for _, w := range weights {
		total += w
	}
	if total == 0 {
		for i := range weights {
			weights[i] = 1
		}
		total = uint64(len(weights))
	}
	lost, order := make([]uint64, len(weights)), make([]int, len(weights))
	left := replicas
	for i, w := range weights {
		high, low := bits.Mul64(uint64(replicas), w)
		quotient, remainder := bits.Div64(high, low, total)
		into[i], lost[i], order[i] = int32(quotient), remainder, i
		left -= into[i]
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(lost[b], lost[a]) })
	for _, at := range order[:left] {
		into[at]++
	}
}

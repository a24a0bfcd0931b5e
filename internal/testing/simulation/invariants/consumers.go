// SPDX-License-Identifier: Apache-2.0

package invariants

import corev1 "k8s.io/api/core/v1"

// consumers is what programs read of the conditions of a status that know no kind, but the convention of kstatus (Flux,
// Helm). They wait, or fail.
type consumers struct {
	reconciling, stalled bool
	problems             bool // there are other conditions, which report problems
}

// consumersOf reads conditions, of which read gives type and status. One that is not True tells consumers nothing.
func consumersOf[C any](conditions []C, read func(*C) (string, corev1.ConditionStatus)) (c consumers) {
	for i := range conditions {
		switch of, status := read(&conditions[i]); of {
		case "Reconciling":
			c.reconciling = status == corev1.ConditionTrue
		case "Stalled":
			c.stalled = status == corev1.ConditionTrue
		default:
			c.problems = true
		}
	}
	return c
}

func (c consumers) wait() bool { return c.reconciling || c.stalled }

// check: they are told one thing, and something as long as no controller has read the spec. (CS-S5, STS-S3, DS-20)
func (c consumers) check(v *violations, observedGeneration int64) {
	if c.reconciling && c.stalled {
		v.add(Status, "it is both reconciling and stalled")
	}
	if observedGeneration == 0 && !c.wait() {
		v.add(Status, "nothing is observed yet, and no condition says so")
	}
}

// checkReached: they wait until the spec is reached, and no longer. (CS-S5, STS-S3, DS-20)
func (c consumers) checkReached(v *violations, reached bool) {
	if reached == c.wait() {
		v.add(Status, "the spec is reached: %v; a condition says that it is not: %v", reached, c.wait())
	}
}

// checkUnreadable: if the spec cannot be understood, they fail, and users are told why.
func (c consumers) checkUnreadable(v *violations) {
	if !c.problems {
		v.add(Status, "the spec cannot be read, and no condition says so")
	}
	if !c.stalled {
		v.add(Status, "the spec cannot be read, and consumers wait for it")
	}
}

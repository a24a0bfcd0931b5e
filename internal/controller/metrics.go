// SPDX-License-Identifier: Apache-2.0

package controller

import "time"

// noMetrics is podwright.Metrics that measures nothing.
type noMetrics struct{}

// Reconciled does nothing.
func (noMetrics) Reconciled(string, time.Duration, error) {}

// Measure calls a function with metrics, unless there are none.
func Measure[M comparable](metrics M, call func(M)) {
	var none M
	if metrics != none {
		call(metrics)
	}
}

// SPDX-License-Identifier: Apache-2.0

package controller

import "time"

// noMetrics is podwright.Metrics that measures nothing.
type noMetrics struct{}

// Reconciled does nothing.
func (noMetrics) Reconciled(string, time.Duration, error) {}

// SPDX-License-Identifier: Apache-2.0

package controller

import "time"

// NoMetrics is podwright.Metrics that measures nothing.
type NoMetrics struct{}

// Reconciled does nothing.
func (NoMetrics) Reconciled(string, time.Duration, error) {}

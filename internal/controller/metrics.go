package controller

import "time"

// Metrics receives what a controller measures of itself. Implementations must
// be safe for use by several goroutines.
type Metrics interface {
	// Reconciled is called after every pass with its duration and its error, if any.
	Reconciled(controller string, took time.Duration, err error)
}

// NoMetrics measures nothing.
type NoMetrics struct{}

// Reconciled does nothing.
func (NoMetrics) Reconciled(string, time.Duration, error) {}

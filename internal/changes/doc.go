// Package changes has a pass made over a workload when something changes that
// its plan depends on, and only then: events that cannot change a plan cost
// nothing.
package changes

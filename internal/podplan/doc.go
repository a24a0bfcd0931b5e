// SPDX-License-Identifier: Apache-2.0

// Package podplan is what the planners of workloads share: checks of what they
// are given, conditions for what is wrong, names with ordinals, and how long a
// pod that never runs waits to be replaced. It sends no requests and reads no clock.
package podplan

// SPDX-License-Identifier: Apache-2.0

// Package controller is what every controller of podwright shares: the events
// that concern an object, a queue of keys, workers that reconcile them by
// observe, plan and apply, each on what it wrote before, and an orderly end.
package controller

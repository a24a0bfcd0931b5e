// SPDX-License-Identifier: Apache-2.0

package sidecarset

import "github.com/podwright/podwright/internal/simulation"

// bug is a bug of the controller.
type bug = simulation.Spoil[Options, Reconciler]

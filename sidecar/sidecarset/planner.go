// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// planner holds what the steps of NewPlan hand to one another.
type planner struct {
	podplan.Planner
	*Snapshot
	plan *Plan
}

// The conditions that report problems, as plans name them.
const (
	failedUpdate  = string(v1alpha1.SidecarSetFailedUpdatePod)
	notInjected   = string(v1alpha1.SidecarSetInjected)
	notUpgradable = string(v1alpha1.SidecarSetNotUpgradable)
)

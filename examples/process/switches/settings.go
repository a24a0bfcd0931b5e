// SPDX-License-Identifier: Apache-2.0

package switches

import (
	"github.com/spf13/pflag"

	"github.com/podwright/podwright/examples/process/features"
	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/daemonset"
	"github.com/podwright/podwright/workloads/uniteddeployment"
)

// Settings are the switches of controllers that have a flag of their own, beside the gates. NewSettings has the defaults.
type Settings struct {
	excludePreparingDelete, assignByScheduler, adaptiveScheduling bool
}

// NewSettings returns the settings of a manager without flags.
func NewSettings() *Settings { return &Settings{assignByScheduler: true} }

// AddFlags adds the flags of all kinds to a set.
func (s *Settings) AddFlags(f *pflag.FlagSet) {
	s.AddCloneSets(f)
	s.AddDaemonSets(f)
	s.AddUnitedDeployments(f)
}

// AddCloneSets adds the flag of CloneSets to a set.
func (s *Settings) AddCloneSets(f *pflag.FlagSet) {
	f.BoolVar(&s.excludePreparingDelete, "cloneset-scaling-exclude-preparing-delete", s.excludePreparingDelete, "do not count pods that prepare for their deletion as replicas")
}

// AddDaemonSets adds the flag of DaemonSets to a set.
func (s *Settings) AddDaemonSets(f *pflag.FlagSet) {
	f.BoolVar(&s.assignByScheduler, "assign-pods-by-scheduler", s.assignByScheduler, "have the scheduler bind the pods of DaemonSets to their nodes")
}

// AddUnitedDeployments adds the flag of UnitedDeployments to a set.
func (s *Settings) AddUnitedDeployments(f *pflag.FlagSet) {
	f.BoolVar(&s.adaptiveScheduling, "uniteddeployment-adaptive-scheduling", s.adaptiveScheduling, "read minReplicas, maxReplicas and the schedule strategy of UnitedDeployments, whatever the gate UnitedDeploymentAdaptive says")
}

// CloneSet returns the switches of CloneSets by these settings and gates.
func (s *Settings) CloneSet(gates *features.Gates) cloneset.Features {
	on := CloneSet(gates)
	on.ExcludePreparingDelete = s.excludePreparingDelete
	return on
}

// DaemonSet returns the switches of DaemonSets by these settings and gates.
func (s *Settings) DaemonSet(gates *features.Gates) daemonset.Features {
	on := DaemonSet(gates)
	on.AssignDirectly = !s.assignByScheduler
	return on
}

// UnitedDeployment returns the switches of UnitedDeployments by these settings and gates.
func (s *Settings) UnitedDeployment(gates *features.Gates) uniteddeployment.Features {
	on := UnitedDeployment(gates)
	on.AdaptiveScheduling = on.AdaptiveScheduling || s.adaptiveScheduling // the gate or the flag
	return on
}

// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// ShareVolumePolicy says whether a container gets the mounts of the pod's own ones.
type ShareVolumePolicy struct {
	// Type is disabled (default) or enabled.
	// +optional
	Type ShareVolumePolicyType `json:"type,omitempty"`
}

// ShareVolumePolicyType is whether a container gets the mounts of the pod's own ones.
type ShareVolumePolicyType string

const (
	// ShareVolumePolicyDisabled gives the container its own mounts alone. The default.
	ShareVolumePolicyDisabled ShareVolumePolicyType = "disabled"
	// ShareVolumePolicyEnabled gives it those of the pod's own containers too.
	ShareVolumePolicyEnabled ShareVolumePolicyType = "enabled"
)

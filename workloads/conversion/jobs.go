// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// broadcastJob has the same fields in both versions.
var broadcastJob = &admission.Conversion{
	Group: v1alpha1.GroupName, Kind: "BroadcastJob", Resource: "broadcastjobs", Stored: admission.V1alpha1,
}

// advancedCronJob has the same fields in both versions. (ACJ-16)
var advancedCronJob = &admission.Conversion{
	Group: v1alpha1.GroupName, Kind: "AdvancedCronJob", Resource: "advancedcronjobs", Stored: admission.V1alpha1,
}

// BroadcastJob converts a BroadcastJob as DaemonSet does a DaemonSet. Nothing but
// the version changes.
func BroadcastJob(object []byte, apiVersion string) ([]byte, error) {
	return broadcastJob.Convert(object, apiVersion)
}

// AdvancedCronJob converts an AdvancedCronJob as DaemonSet does a DaemonSet.
func AdvancedCronJob(object []byte, apiVersion string) ([]byte, error) {
	return advancedCronJob.Convert(object, apiVersion)
}

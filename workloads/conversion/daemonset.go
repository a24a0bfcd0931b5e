// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"encoding/json"

	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// daemonSetScaleStrategy is spec.scaleStrategy of a v1beta1 DaemonSet.
type daemonSetScaleStrategy struct {
	PartitionedScaling *bool `json:"partitionedScaling,omitempty"`
}

var scaleStrategyPath = admission.Path{"spec", "scaleStrategy"}

// daemonSet differs as in OpenKruise 1.9. (DS-V3)
var daemonSet = &admission.Conversion{
	Group: v1alpha1.GroupName, Kind: "DaemonSet", Resource: "daemonsets", Stored: admission.V1alpha1,
	Fields: []admission.ConvertedField{
		{
			In: admission.V1beta1, Path: scaleStrategyPath, Check: admission.Decodes[daemonSetScaleStrategy](),
			Schema: `{"type":"object","description":"ScaleStrategy says how pods are created.","properties":{"partitionedScaling":{"type":"boolean",` +
				`"description":"PartitionedScaling creates pods on no more nodes, by name, than the partition lets be updated. Default: as the annotation daemonset.kruise.io/progressive-create-pod says."}}}`,
		},
		{
			In: admission.V1beta1, Path: admission.Path{"status", "updateRevision"}, Twin: admission.Path{"status", "daemonSetHash"},
			Schema: `{"type":"string","description":"UpdateRevision is the hash of the revision of the present template."}`,
		},
	},
}

// DaemonSet converts a DaemonSet as StatefulSet does a StatefulSet. Since it may be
// stored in either version, it is converted whatever the annotations that keep fields hold.
func DaemonSet(object []byte, apiVersion string) ([]byte, error) {
	return daemonSet.Convert(object, apiVersion)
}

// DaemonSetPartitionedScaling returns what spec.scaleStrategy.partitionedScaling of v1beta1 says, which an annotation
// keeps. Nil if it says nothing. (DS-6)
func DaemonSetPartitionedScaling(set *v1alpha1.DaemonSet) *bool {
	var strategy daemonSetScaleStrategy
	if kept := daemonSet.Kept(set.Annotations, admission.V1beta1, scaleStrategyPath); kept == nil || json.Unmarshal(kept, &strategy) != nil {
		return nil
	}
	return strategy.PartitionedScaling
}

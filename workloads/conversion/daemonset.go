// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"encoding/json"
	"fmt"
	"math"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// daemonSetScaleStrategy is spec.scaleStrategy of a v1beta1 DaemonSet.
type daemonSetScaleStrategy struct {
	PartitionedScaling *bool `json:"partitionedScaling,omitempty"`
}

var scaleStrategyPath = admission.Path{"spec", "scaleStrategy"}

// partitionPath is the path at which both versions of a DaemonSet have the partition.
var partitionPath = admission.Path{"spec", "updateStrategy", "rollingUpdate", "partition"}

const partition = "self.spec.updateStrategy.rollingUpdate.partition"

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
			In: admission.V1beta1, Path: partitionPath, Twin: partitionPath, Near: heldBack, Check: isPartition,
			Schema: `{"anyOf":[{"type":"integer"},{"type":"string"}],"x-kubernetes-int-or-string":true,` +
				`"description":"Partition is the number of nodes whose pods stay at the old template: a number, or a percentage of the nodes that should run a pod. Default 0."}`,
		},
		{
			In: admission.V1beta1, Path: admission.Path{"status", "updateRevision"}, Twin: admission.Path{"status", "daemonSetHash"},
			Schema: `{"type":"string","description":"UpdateRevision is the hash of the revision of the present template."}`,
		},
	},
	Rules: []admission.ConvertedRule{{
		Mentions: partition,
		Rule: `!has(self.spec) || !has(self.spec.updateStrategy) || !has(self.spec.updateStrategy.rollingUpdate) || has(self.spec.updateStrategy.type) && self.spec.updateStrategy.type == 'OnDelete' || ` +
			`!has(` + partition + `) || (type(` + partition + `) == int ? ` + partition + ` >= 0 && ` + partition + ` <= 2147483647 : ` + partition + `.matches('^0*(100|[0-9]{1,2})%$'))`,
		Message: `'must be a number of nodes, 0 or more, or a whole percentage up to 100%, is ' + string(` + partition + `)`,
	}},
}

// heldBack returns the partition that holds back all nodes for one that clients of
// v1alpha1 before OpenKruise 1.9 cannot read: who does not know the percentage updates nothing.
func heldBack(value json.RawMessage) (near any, fits bool) {
	var number *int32
	if json.Unmarshal(value, &number) == nil {
		return nil, true
	}
	return math.MaxInt32, false
}

// isPartition says what is wrong with a kept partition.
func isPartition(value json.RawMessage) error {
	if _, fits := heldBack(value); fits {
		return fmt.Errorf("%s is a number that v1alpha1 has too", value)
	}
	var any any
	if err := json.Unmarshal(value, &any); err != nil {
		return err
	}
	switch any.(type) {
	case string, float64:
		return nil
	}
	return fmt.Errorf("want a percentage, got %s", value)
}

// DaemonSet converts a DaemonSet as StatefulSet does a StatefulSet. An object in
// v1alpha1, the version in which it is stored, is converted whatever
// KeptFieldsAnnotation holds.
func DaemonSet(object []byte, apiVersion string) ([]byte, error) {
	return daemonSet.Convert(object, apiVersion)
}

// DaemonSetPartitionedScaling returns what spec.scaleStrategy.partitionedScaling of v1beta1 says, which KeptFieldsAnnotation
// keeps. Nil if it says nothing. (DS-6)
func DaemonSetPartitionedScaling(set *v1alpha1.DaemonSet) *bool {
	var strategy daemonSetScaleStrategy
	if kept := admission.Kept(set.Annotations, admission.V1beta1, scaleStrategyPath); kept == nil || json.Unmarshal(kept, &strategy) != nil {
		return nil
	}
	return strategy.PartitionedScaling
}

// DaemonSetPartition returns the partition of a DaemonSet: what v1alpha1 has, or
// the percentage that was written in v1beta1 and KeptFieldsAnnotation keeps. Nil if
// the DaemonSet has none.
//
// A kept percentage counts as long as the number beside it is the one that stands
// for it, [math.MaxInt32]: who writes another number means that. It may be of
// any form. (DS-V3)
func DaemonSetPartition(set *v1alpha1.DaemonSet) *intstr.IntOrString {
	rolling := set.Spec.UpdateStrategy.RollingUpdate
	if rolling == nil || rolling.Partition == nil {
		return nil
	}
	if rolling.Partition.Type == intstr.String || rolling.Partition.IntVal != math.MaxInt32 {
		return rolling.Partition
	}
	var percentage string
	if kept := admission.Kept(set.Annotations, admission.V1beta1, partitionPath); kept == nil || json.Unmarshal(kept, &percentage) != nil {
		return rolling.Partition
	}
	return new(intstr.FromString(percentage))
}

// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// customResource is the resource of the workloads of a kind of the white list, whose pods are those of ReplicaSets.
const customResource = "rollouts"

// addCustom has a workload of a kind of the white list be spread. The workload wants what spec.replicas says. It owns the pods of the
// ReplicaSets that it controls, of any revision. It returns false if it is not known how many pods are wanted. (WS-35)
func (f *spreading) addCustom(rollout Object) (known bool) {
	var says struct {
		Spec struct {
			Replicas *int32 `json:"replicas"`
		} `json:"spec"`
	}
	text, err := json.Marshal(rollout)
	if err != nil || json.Unmarshal(text, &says) != nil || says.Spec.Replicas == nil {
		return false
	}
	f.custom, f.wants = true, wanted(rollout, says.Spec.Replicas)
	f.owners[rollout.GetUID()] = true
	for _, object := range f.state.Further["replicasets"] {
		if ref := metav1.GetControllerOfNoCopy(object); ref != nil && ref.UID == rollout.GetUID() {
			f.owners[object.GetUID()] = true
		}
	}
	return true
}

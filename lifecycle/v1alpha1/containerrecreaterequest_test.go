// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"encoding/json"
	"reflect"
	"testing"
)

// CRR-4.1: what is told of a container, of one without an ID, and of none.
func TestSyncContainerStatuses(t *testing.T) {
	for want, statuses := range map[string][]ContainerRecreateRequestSyncContainerStatus{
		`[{"name":"main","ready":true,"restartCount":2,"containerID":"containerd://4fa6"}]`: {{Name: "main", Ready: true, RestartCount: 2, ContainerID: "containerd://4fa6"}},
		`[{"name":"main","ready":false,"restartCount":0}]`:                                  {{Name: "main"}},
		`[]`: {},
	} {
		var back []ContainerRecreateRequestSyncContainerStatus
		got, err := json.Marshal(statuses)
		if err != nil || string(got) != want {
			t.Errorf("%s, want %s, error %v", got, want, err)
		}
		if err := json.Unmarshal(got, &back); err != nil || !reflect.DeepEqual(statuses, back) {
			t.Errorf("%s is read as %+v, error %v", got, back, err)
		}
	}
}

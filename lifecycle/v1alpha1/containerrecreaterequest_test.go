// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSyncContainerStatuses(t *testing.T) {
	for _, test := range []struct {
		name, want string
		statuses   []ContainerRecreateRequestSyncContainerStatus
	}{
		{"CRR-4.1: a container", `[{"name":"main","ready":true,"restartCount":2,"containerID":"containerd://4fa6"}]`,
			[]ContainerRecreateRequestSyncContainerStatus{{Name: "main", Ready: true, RestartCount: 2, ContainerID: "containerd://4fa6"}}},
		{"CRR-4.1: no containerID", `[{"name":"main","ready":false,"restartCount":0}]`,
			[]ContainerRecreateRequestSyncContainerStatus{{Name: "main"}}},
		{"CRR-4.1: nothing", `[]`, []ContainerRecreateRequestSyncContainerStatus{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := json.Marshal(test.statuses)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(got)); diff != "" {
				t.Errorf("annotation (-want +got):\n%s", diff)
			}
			var back []ContainerRecreateRequestSyncContainerStatus
			if err := json.Unmarshal(got, &back); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.statuses, back); diff != "" {
				t.Errorf("read back (-want +got):\n%s", diff)
			}
		})
	}
}

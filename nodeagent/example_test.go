// SPDX-License-Identifier: Apache-2.0

package nodeagent_test

import (
	"context"
	"fmt"

	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/podwright/podwright/internal/testing/fakecri"
	"github.com/podwright/podwright/nodeagent"
)

// The newest container of each name is the one that counts. A node agent gets
// its Runtime from Dial.
func Example() {
	ctx := context.Background()
	fake := fakecri.New(nil)
	for restarts := range 2 {
		fake.Create(fakecri.Container{Status: &criv1.ContainerStatus{
			Labels:      map[string]string{nodeagent.PodUIDLabel: "uid", nodeagent.ContainerNameLabel: "main"},
			Annotations: map[string]string{nodeagent.RestartCountAnnotation: fmt.Sprint(restarts), nodeagent.HashAnnotation: "3452fffa"},
		}})
	}
	runtime, err := nodeagent.NewRuntime(ctx, fake.Conn(), "unix:///run/containerd/containerd.sock")
	if err != nil {
		fmt.Println(err)
		return
	}

	containers, err := runtime.Containers(ctx, "uid")
	if err != nil {
		fmt.Println(err)
		return
	}
	main := nodeagent.Newest(containers)["main"]
	restarts, _ := nodeagent.RestartCount(main)
	hash, _ := nodeagent.KubeletHash(main)
	fmt.Println(nodeagent.ContainerID(runtime.Name, main.GetId()), restarts, hash)
	// Output: containerd://container-2 1 877854714
}

// SPDX-License-Identifier: Apache-2.0

package nodeagent_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/nodeagent"
)

// row is what the runtime, or a node, says.
type row struct {
	Text        string
	Labels      map[string]string
	Annotations map[string]string
	Containers  []*criv1.Container
	Addresses   []corev1.NodeAddress
}

// TestRows plays the tables of what a runtime and a node say, see patches.PlayRows. They show:
//
//	restarts, hash             annotations of a container
//	container-id               the parts of an ID, and the ID that they make
//	newest                     the newest container of each name
//	pod                        whose pod it is, and whether it is static
//	runtime, address           the runtime and the address of a node
//	dial                       why an endpoint is none
func TestRows(t *testing.T) {
	patches.PlayRows(t, "testdata/rows", func() row { return row{} }, func(t *testing.T, command string, r *row) (out string) {
		node := &corev1.Node{Status: corev1.NodeStatus{NodeInfo: corev1.NodeSystemInfo{ContainerRuntimeVersion: r.Text}, Addresses: r.Addresses}}
		with := func(key string) *criv1.Container {
			return &criv1.Container{Id: "x", Annotations: map[string]string{key: r.Text}}
		}
		switch command {
		case "restarts":
			return orError(nodeagent.RestartCount(with(nodeagent.RestartCountAnnotation)))
		case "hash":
			return orError(nodeagent.KubeletHash(with(nodeagent.HashAnnotation)))
		case "container-id":
			runtime, id, ok := nodeagent.SplitContainerID(r.Text)
			return fmt.Sprintf("%q %q %t, %s", runtime, id, ok, nodeagent.ContainerID(runtime, id))
		case "newest":
			all := nodeagent.Newest(append(r.Containers, nil))
			for _, name := range slices.Sorted(maps.Keys(all)) {
				out += name + " " + all[name].GetId() + ", "
			}
			return out
		case "pod":
			sandbox := &criv1.PodSandboxStatus{Annotations: r.Annotations}
			return fmt.Sprintf("%+v, static %t, and nothing is %t", nodeagent.PodOf(r.Labels), nodeagent.Static(sandbox), nodeagent.Static(nil))
		case "runtime":
			name, version := nodeagent.RuntimeOf(node)
			return fmt.Sprintf("%q %q", name, version)
		case "address":
			return nodeagent.NodeAddressOf(node)
		}
		_, err := nodeagent.Dial(t.Context(), r.Text)
		return err.Error()
	})
}

// orError shows a number, or why it is none.
func orError[N int32 | uint64](n N, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	return fmt.Sprint(n)
}

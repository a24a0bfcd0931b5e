// SPDX-License-Identifier: Apache-2.0

package podnet

import (
	"fmt"
	"net"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/internal/testing/patches"
)

// row is an action of a probe or a hook, and the address of its pod.
type row struct {
	corev1.HTTPGetAction
	PodIP string
	Of    intstr.IntOrString
}

// TestRows plays the tables of ports and of requests, of a container with the ports http and admin: see patches.PlayRows.
func TestRows(t *testing.T) {
	ports := []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}, {Name: "admin", ContainerPort: 9}}
	patches.PlayRows(t, "testdata", func() row { return row{PodIP: "10.0.0.7"} }, func(t *testing.T, command string, r *row) string {
		if command == "port" {
			port, err := Port(r.Of, ports)
			return fmt.Sprintf("%d, error %v", port, err)
		}
		got, err := Get(t.Context(), &r.HTTPGetAction, r.PodIP, ports)
		if err != nil {
			return "error " + err.Error()
		}
		return fmt.Sprintf("%s, host %s, A %v", got.URL, got.Host, got.Header["A"])
	})
}

// PPM-4.4: the address of the node is none of its loopback interface. A machine without a network has none.
func TestNodeAddress(t *testing.T) {
	address, err := nodeAddress()
	if ip := net.ParseIP(address); err == nil && (ip == nil || ip.IsLoopback() || ip.IsUnspecified()) {
		t.Errorf("address %q", address)
	}
	if err != nil && !strings.Contains(err.Error(), "the node has no address") {
		t.Error(err)
	}
}

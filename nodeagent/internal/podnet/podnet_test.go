// SPDX-License-Identifier: Apache-2.0

package podnet

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func TestPort(t *testing.T) {
	ports := []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}, {Name: "admin", ContainerPort: 9}}
	for _, test := range []struct {
		name string
		port intstr.IntOrString
		want int32
		err  string
	}{
		{"a number", intstr.FromInt32(81), 81, ""},
		{"the name of a port", intstr.FromString("admin"), 9, ""},
		{"a number as text", intstr.FromString("82"), 82, ""},
		{"an unknown name", intstr.FromString("grpc"), 0, `port "grpc": want a number, or the name of a port`},
		{"none", intstr.IntOrString{}, 0, "port 0: want 1 to 65535"},
		{"too large", intstr.FromString("65536"), 0, "port 65536: want 1 to 65535"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Port(test.port, ports)
			if test.err == "" && (err != nil || got != test.want) || test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
				t.Errorf("port %d, error %v", got, err)
			}
		})
	}
}

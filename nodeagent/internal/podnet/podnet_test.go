// SPDX-License-Identifier: Apache-2.0

package podnet

import (
	"net"
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

// The host of a request is that of the pod, whatever its path says.
func TestGet(t *testing.T) {
	for _, test := range []struct {
		action corev1.HTTPGetAction
		host   string
		want   string // the URL
		err    string
	}{
		{corev1.HTTPGetAction{Path: "/healthz", Port: intstr.FromString("http")}, "10.0.0.7", "http://10.0.0.7:8080/healthz", ""},
		{corev1.HTTPGetAction{Path: "/a?b=c#d", Port: intstr.FromInt32(81), Scheme: "https"}, "10.0.0.7", "https://10.0.0.7:81/a?b=c", ""},
		{corev1.HTTPGetAction{Port: intstr.FromInt32(81)}, "fd00::7", "http://[fd00::7]:81", ""},
		{corev1.HTTPGetAction{Path: "/a%2Fb", Port: intstr.FromInt32(81)}, "10.0.0.7", "http://10.0.0.7:81/a%2Fb", ""},
		{corev1.HTTPGetAction{Path: "//evil/x", Port: intstr.FromInt32(81)}, "10.0.0.7", "http://10.0.0.7:81/x", ""},
		{corev1.HTTPGetAction{Path: "http://evil:82/x", Port: intstr.FromInt32(81)}, "10.0.0.7", "http://10.0.0.7:81/x", ""},
		{corev1.HTTPGetAction{Path: "//user@evil/x", Port: intstr.FromInt32(81)}, "10.0.0.7", "http://10.0.0.7:81/x", ""},
		{corev1.HTTPGetAction{Path: "/%zz", Port: intstr.FromInt32(81)}, "10.0.0.7", "http://10.0.0.7:81/%25zz", ""},
		{corev1.HTTPGetAction{Path: "/", Port: intstr.FromString("none")}, "10.0.0.7", "", "httpGet: port"},
	} {
		test.action.HTTPHeaders = []corev1.HTTPHeader{{Name: "a", Value: "1"}, {Name: "a", Value: "2"}}
		got, err := Get(t.Context(), &test.action, test.host, []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}})
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%s: error %v, want %s", test.action.Path, err, test.err)
			}
			continue
		}
		if err != nil || got.URL.String() != test.want || len(got.Header["A"]) != 2 || got.Host != got.URL.Host {
			t.Errorf("%s: error %v, request %+v; want %s", test.action.Path, err, got, test.want)
		}
	}
	named := &corev1.HTTPGetAction{Path: "/", Port: intstr.FromInt32(81), HTTPHeaders: []corev1.HTTPHeader{{Name: "host", Value: "shop.example.com"}}}
	if got, err := Get(t.Context(), named, "10.0.0.7", nil); err != nil || got.Host != "shop.example.com" || got.URL.Host != "10.0.0.7:81" {
		t.Errorf("with the header Host: error %v, request %+v", err, got)
	}
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

// SPDX-License-Identifier: Apache-2.0

package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/podwright/podwright/internal/testing/fakecri"
)

// IMG-3.5: of two runtimes the one that the status of the node names; without such a
// name there is no telling.
func TestRuntimeOfTheNode(t *testing.T) {
	before, dir := folders, t.TempDir()
	folders = []string{dir}
	defer func() { folders = before }()
	for socket, name := range map[string]string{"containerd.sock": "containerd", "crio/crio.sock": "cri-o"} {
		path := filepath.Join(dir, socket)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		runtime := fakecri.New(nil)
		runtime.RuntimeName = name
		stop, err := runtime.Serve(path)
		if err != nil {
			t.Fatal(err)
		}
		defer stop()
	}
	a, err := New(NewConfig(onNode))
	if err != nil {
		t.Fatal(err)
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: a.config.NodeName}}
	node.Status.NodeInfo.ContainerRuntimeVersion = "cri-o://1.30.0"
	runtime, err := a.connectRuntime(t.Context(), fake.NewClientset(node))
	if err != nil {
		t.Fatal(err)
	}
	defer runtime.Close()
	if runtime.Name != "cri-o" {
		t.Errorf("connected to %s", runtime.Name)
	}
	if _, err := a.connectRuntime(t.Context(), fake.NewClientset()); err == nil || !strings.Contains(err.Error(), "want one container runtime, found") {
		t.Errorf("error %v", err)
	}
}

// An agent asks for the rights that its flags need. Without the feature that reports containers it
// reads no pods. If a flag names the socket, it does not read its node.
func TestPermissions(t *testing.T) {
	for _, test := range []struct {
		what   string
		config func(*Config)
		pods   bool
		nodes  bool
	}{
		{"by default", func(*Config) {}, true, true},
		{"a socket that is named", func(c *Config) { c.Endpoint = "/x.sock" }, true, false},
		{"pods of the kubelet", func(c *Config) { c.Pods = PodsOfKubelet }, false, true},
		{"no report of containers", func(c *Config) { c.Features.Gates = "DaemonWatchingPod=false" }, false, true},
	} {
		config := NewConfig(onNode)
		test.config(&config)
		parts, err := Permissions(config)
		if err != nil {
			t.Fatal(err)
		}
		allows := func(verb, resource string) (is bool) {
			for _, part := range parts {
				is = is || part.Allows(verb, "", resource, "default", "node-1")
			}
			return is
		}
		if allows("list", "pods") != test.pods || allows("watch", "pods") != test.pods || allows("get", "nodes") != test.nodes {
			t.Errorf("%s: pods %v, nodes %v", test.what, allows("list", "pods"), allows("get", "nodes"))
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"text/template"
)

// pauseImage is the image of sandboxes that containerd asks for.
const pauseImage = "registry.k8s.io/pause:3.10.2"

const kubeletHealthPort = "10248"

//go:embed node
var nodeFiles embed.FS

// component returns the process of a component of the node.
func (n *RealNode) component(name string) (*process, error) {
	command := []string{filepath.Join(n.cluster.real.binaries, "containerd"), "--config=containerd.toml"}
	if name == Kubelet {
		command = []string{
			n.cluster.binary, "kubelet",
			"--config=kubelet.yaml",
			"--kubeconfig=" + filepath.Join(n.cluster.dir, kubeconfigFile(Kubelet)),
			"--hostname-override=" + n.Name,
			"--node-ip=" + n.IP,
			"--root-dir=" + filepath.Join(n.Dir, "kubelet"),
			"--cert-dir=" + filepath.Join(n.Dir, "kubelet.certs"),
			// By default the kubelet keeps one container that does not run for each container of a pod. That is one that has ended, or
			// one that is made but not started. If the kubelet cleans up just as the next one is to be started, it loses the state of the
			// former container.
			"--maximum-dead-containers-per-container=2",
			"--node-labels=topology.kubernetes.io/zone=zone-" + string(rune('a'+n.number%3)) + ",topology.kubernetes.io/region=region-1",
		}
	}
	return &process{
		name:   name,
		binary: "/bin/sh",
		// The child is in the node's namespaces from the start, but still in our control groups.
		arguments:   append([]string{"-c", `for g in /sys/fs/cgroup/init /sys/fs/cgroup/*/init; do [ ! -d "$g" ] || echo $$ > "$g/cgroup.procs" || exit; done; exec "$@"`, "sh"}, command...),
		environment: []string{"PATH=" + n.cluster.real.binaries + ":" + os.Getenv("PATH") + ":/usr/sbin:/sbin"},
		dir:         n.Dir,
		confined:    true,
		logFile:     filepath.Join(n.Dir, name+".log"),
	}, nil
}

// StaticPods is the folder of whose manifests the kubelet makes static pods.
func (n *RealNode) StaticPods() string { return filepath.Join(n.Dir, "static-pods") }

// writeConfiguration writes the files that the node's components read.
func (n *RealNode) writeConfiguration() error {
	plugins, err := networkPlugins()
	if err != nil {
		return err
	}
	values := map[string]string{
		"Dir":           n.Dir,
		"IP":            n.IP,
		"PodCIDR":       n.PodCIDR,
		"CRISocket":     n.CRISocket,
		"Plugins":       plugins,
		"Pause":         pauseImage,
		"Registry":      n.cluster.real.images.Address(),
		"KubeletClient": filepath.Join(n.cluster.dir, kubeletClientFile),
		"HealthPort":    kubeletHealthPort,
		"Snapshotter":   snapshotter(n.cluster.dir),
	}
	if err := os.MkdirAll(n.StaticPods(), 0o700); err != nil {
		return err
	}
	all, err := template.ParseFS(nodeFiles, "node/*.tmpl")
	if err != nil {
		return err
	}
	for file, source := range map[string]string{
		"containerd.toml":           "containerd.toml.tmpl",
		"kubelet.yaml":              "kubelet.yaml.tmpl",
		"cni/bridge.conflist":       "bridge.conflist.tmpl",
		"hosts/_default/hosts.toml": "hosts.toml.tmpl",
	} {
		var out bytes.Buffer
		if err := all.ExecuteTemplate(&out, source, values); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		path := filepath.Join(n.Dir, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
			return err
		}
	}
	return nil
}

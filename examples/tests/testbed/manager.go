// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"fmt"
	"net"
	"path/filepath"
	"slices"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/podwright/podwright/examples/tests/cluster"
)

// Manager is a manager that can be killed and started again.
type Manager struct {
	*process
	// Metrics is the address on which it serves /metrics.
	Metrics string
}

// NewManager returns a manager with addresses of its own, not yet started. A webhook's address is part of what the API
// server stores, so it stays the same over restarts. The arguments win over those that every manager here is given.
func (b *Testbed) NewManager(name string, arguments ...string) (*Manager, error) {
	ports, err := freePorts(3)
	if err != nil {
		return nil, err
	}
	_, webhookPort, _ := net.SplitHostPort(ports[2])
	arguments = append([]string{
		"--kubeconfig=" + b.identities[ManagerProgram].Kubeconfig, "--create-own-namespace", "--install-crds",
		"--metrics-addr=" + ports[0], "--health-probe-addr=" + ports[1],
		"--webhook-host=127.0.0.1", "--webhook-bind-address=127.0.0.1", "--webhook-port=" + webhookPort,
		"--webhook-cert-writer=secret", "--cloneset-workers=10", "--statefulset-workers=10", "-v=2", "--feature-gates=" + b.options.FeatureGates,
	}, slices.Concat(b.options.ManagerFlags, arguments)...)
	return &Manager{process: b.newProcess(ManagerProgram, name, ports[1], arguments), Metrics: ports[0]}, nil
}

// With returns a manager at the same addresses, not yet started, that is given further arguments.
func (m *Manager) With(arguments ...string) *Manager {
	return &Manager{process: m.with(arguments), Metrics: m.Metrics}
}

// KubeconfigVia writes a kubeconfig with which a manager reaches the API server by another address, and returns its path.
func (b *Testbed) KubeconfigVia(name, address string) (string, error) {
	config, err := clientcmd.LoadFromFile(b.identities[ManagerProgram].Kubeconfig)
	if err != nil {
		return "", err
	}
	for _, server := range config.Clusters {
		server.Server = "https://" + address
	}
	file := filepath.Join(b.Control.Dir(), name+".kubeconfig")
	return file, clientcmd.WriteToFile(*config, file)
}

// freePorts returns addresses that no other caller gets.
func freePorts(n int) ([]string, error) {
	var free []string
	for range n {
		port, err := cluster.FreePort()
		if err != nil {
			return nil, err
		}
		free = append(free, fmt.Sprintf("127.0.0.1:%d", port))
	}
	return free, nil
}

// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"slices"
	"strings"

	"github.com/podwright/podwright/examples/tests/cluster"
	"github.com/podwright/podwright/examples/tests/faults/link"
	"github.com/podwright/podwright/examples/tests/testbed"
)

// managers are two of which one leads, each with a network of its own between it and the API server. Others serve the
// webhooks, and wait for the Lease for hours.
type managers struct {
	*story
	all      []*testbed.Manager
	links    []*link.Link
	webhooks *testbed.Replicas // nil until there is a leader
}

// replicas is how many serve the webhooks.
const replicas = 2

// election makes a dead leader be replaced within eight seconds. A request for the Lease may take three: a busy machine, which
// answers none within one, would never have a leader.
var election = []string{
	"--leader-elect", "--leader-election-lease-duration=8s", "--leader-election-renew-deadline=6s", "--leader-election-retry-period=500ms",
}

// startManagers replaces the shared manager.
func (s *story) startManagers() *managers {
	s.Helper()
	m := &managers{story: s}
	s.managers = m
	s.Cleanup(func() { // if a test fails within a fault
		for _, component := range []string{cluster.Etcd, cluster.APIServer, cluster.ControllerManager} {
			_ = bed.Control.Resume(component)
		}
	})
	bed.Manager.Kill()
	target := strings.TrimPrefix(bed.Control.Config().Host, "https://")
	for _, name := range []string{"first", "second"} {
		network, err := link.New(target)
		if err != nil {
			s.Fatalf("%v", err)
		}
		s.Cleanup(network.Close)
		kubeconfig, err := bed.KubeconfigVia(name, network.Address())
		if err != nil {
			s.Fatalf("a kubeconfig for %s: %v", name, err)
		}
		manager, err := bed.NewManager(name, append(election, "--enable-webhooks=false", "--kubeconfig="+kubeconfig)...)
		if err != nil {
			s.Fatalf("%v", err)
		}
		s.Cleanup(manager.Kill)
		m.all, m.links = append(m.all, manager), append(m.links, network)
	}
	m.leader()
	webhooks, err := bed.NewReplicas(replicas, "--leader-elect", "--leader-election-lease-duration=24h",
		"--leader-election-renew-deadline=20h", "--leader-election-retry-period=10h")
	if err != nil {
		s.Fatalf("%v", err)
	}
	s.Cleanup(webhooks.Close)
	m.webhooks = webhooks
	m.revive()
	return m
}

// revive starts what does not run. A manager ends by itself when it loses the Lease, and the scheduler ends when it has
// missed what became of a pod.
func (m *managers) revive() {
	m.Helper()
	for _, component := range []string{cluster.ControllerManager, cluster.Scheduler} {
		select {
		case <-bed.Control.Done(component):
			m.note("%s has ended, and starts", component)
			if err := bed.Control.Restart(m.Context(), component); err != nil {
				m.Fatalf("restart %s: %v", component, err)
			}
		default:
		}
	}
	all := m.all
	if m.webhooks != nil {
		all = slices.Concat(all, m.webhooks.All)
	}
	for _, manager := range all {
		if manager.Running() {
			continue
		}
		m.note("%s starts", manager.Name)
		if err := manager.Start(); err != nil {
			m.Fatalf("start %s: %v", manager.Name, err)
		}
	}
}

// leader waits until one of the two leads, and returns its number. Both must be able to answer.
func (m *managers) leader() (leader int) {
	m.Helper()
	m.AwaitAsking("a manager leads", func() string {
		m.revive()
		for i, manager := range m.all {
			if leads(manager) {
				leader = i
				return ""
			}
		}
		return "none does"
	})
	return leader
}

func leads(m *testbed.Manager) bool {
	metrics, err := m.Get(m.Metrics, "/metrics")
	return err == nil && strings.Contains(metrics, "\nkruise_manager_is_leader 1")
}

// awaitLeads waits until a manager leads.
func (m *managers) awaitLeads(which int) {
	m.Helper()
	m.AwaitAsking(fmt.Sprintf("%s leads", m.all[which].Name), func() string {
		if !m.all[which].Running() {
			m.revive()
		}
		if leads(m.all[which]) {
			return ""
		}
		return "it does not"
	})
}

// report shows the logs.
func (m *managers) report() {
	for _, manager := range m.all {
		m.Logf("the log of %s:\n%s", manager.Name, manager.LogTail(m.Namespace))
	}
}

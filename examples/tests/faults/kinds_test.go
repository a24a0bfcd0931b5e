// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"testing"
	"time"

	"github.com/podwright/podwright/examples/tests/cluster"
)

// fault is one way in which something breaks for a while.
type fault struct {
	name string
	// length is how long it lasts at most; it is at least a tenth of that.
	length time.Duration
	// reachable tells that users can change workloads meanwhile.
	reachable bool
	// strike returns what ends the fault.
	strike func(*managers) (heal func())
}

// deck returns all faults of a run, in an order by chance.
func (s *story) deck() (all []fault) {
	for _, kind := range []struct {
		number int
		fault
	}{
		{10, fault{"the leader is killed", 500 * time.Millisecond, true, killLeader}},
		{2, fault{"the other manager is killed", 500 * time.Millisecond, true, killOther}},
		{6, fault{"the leader stands still", 1500 * time.Millisecond, true, pauseLeader}},
		{4, fault{"the leader stands still, and is replaced", 0, true, replaceLeader}},
		{7, fault{"the leader is cut off", 2 * time.Second, true, onLink((*managers).cut)}},
		{6, fault{"the leader's connections hang", 1500 * time.Millisecond, true, onLink((*managers).hang)}},
		{3, fault{"the leader's connections hang, and it is replaced", 0, true, hangLeader}},
		{5, fault{"the leader's connections are slow", 2 * time.Second, true, onLink((*managers).slow)}},
		{4, fault{"the leader gets no new connections", 2 * time.Second, true, onLink((*managers).refuse)}},
		{1, fault{"the webhooks are killed", 500 * time.Millisecond, false, killWebhooks(replicas)}},
		{2, fault{"one replica of the webhooks is killed", 500 * time.Millisecond, true, killWebhooks(1)}},
		{1, fault{"the webhooks stand still", 1500 * time.Millisecond, false, pauseWebhooks(replicas)}},
		{2, fault{"one replica of the webhooks stands still", 1500 * time.Millisecond, false, pauseWebhooks(1)}},
		{4, fault{"the controller manager stands still", 3 * time.Second, true, pause(cluster.ControllerManager)}},
		{4, fault{"the API server stands still", 2 * time.Second, false, pause(cluster.APIServer)}},
		{3, fault{"etcd stands still", 2 * time.Second, false, pause(cluster.Etcd)}},
		{2, fault{"the leader is killed while the controller manager stands still", 2 * time.Second, true, both(pause(cluster.ControllerManager), killLeader)}},
		{2, fault{"etcd is killed while the leader's connections are slow", time.Second, false, both(onLink((*managers).slow), kill(cluster.Etcd))}},
		{2, fault{"the other manager is killed while the API server stands still", time.Second, false, both(killOther, pause(cluster.APIServer))}},
		{2, fault{"the API server is killed", 0, false, kill(cluster.APIServer)}},
		{3, fault{"etcd is killed", 0, false, kill(cluster.Etcd)}},
	} {
		if testing.Short() {
			kind.number = 1
		}
		for range kind.number {
			all = append(all, kind.fault)
		}
	}
	s.random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// both is one fault within another.
func both(outer, inner func(*managers) func()) func(*managers) func() {
	return func(m *managers) func() {
		healOuter := outer(m)
		healInner := inner(m)
		return func() {
			healInner()
			healOuter()
		}
	}
}

func killLeader(m *managers) func() {
	leader := m.all[m.leader()]
	leader.Kill()
	m.note("%s is killed", leader.Name)
	return m.revive
}

func killOther(m *managers) func() {
	m.all[1-m.leader()].Kill()
	return m.revive
}

// killWebhooks kills replicas: if it is all, what a webhook must be asked about is refused.
func killWebhooks(n int) func(*managers) func() {
	return func(m *managers) func() {
		for _, i := range m.random.Perm(replicas)[:n] {
			m.webhooks.All[i].Kill()
		}
		return m.revive
	}
}

// pauseWebhooks has what they are asked about wait.
func pauseWebhooks(n int) func(*managers) func() {
	return func(m *managers) func() {
		paused := m.random.Perm(replicas)[:n]
		for _, i := range paused {
			if err := m.webhooks.All[i].Pause(); err != nil {
				m.note("%v", err)
			}
		}
		return func() {
			for _, i := range paused {
				m.resume(m.webhooks.All[i])
			}
			m.revive()
		}
	}
}

func pauseLeader(m *managers) func() { return m.pause(m.leader()) }

func (m *managers) pause(which int) func() {
	manager := m.all[which]
	if err := manager.Pause(); err != nil {
		m.note("%v", err)
		return m.revive
	}
	m.note("%s stands still", manager.Name)
	return func() { m.resume(manager) }
}

// resume lets a manager go on, unless it has ended.
func (m *managers) resume(manager interface{ Resume() error }) {
	if err := manager.Resume(); err != nil {
		m.note("%v", err)
	}
}

// replaceLeader stops the leader, and resumes it when the other one leads and has written something. Two managers work
// until the first one knows.
func replaceLeader(m *managers) func() {
	which := m.leader()
	return m.replaced(which, m.pause(which))
}

// hangLeader does the same with the network.
func hangLeader(m *managers) func() {
	which := m.leader()
	m.links[which].Hang()
	return m.replaced(which, m.links[which].Heal)
}

func (m *managers) replaced(which int, heal func()) func() {
	m.awaitLeads(1 - which)
	m.note("%s leads", m.all[1-which].Name)
	m.awaitChanges(5)
	return heal
}

// onLink breaks the network of the leader.
func onLink(harm func(*managers, int)) func(*managers) func() {
	return func(m *managers) func() {
		which := m.leader()
		harm(m, which)
		m.note("it is %s", m.all[which].Name)
		return m.links[which].Heal
	}
}

func (m *managers) cut(which int)    { m.links[which].Cut() }
func (m *managers) hang(which int)   { m.links[which].Hang() }
func (m *managers) slow(which int)   { m.links[which].Slow(100 * time.Millisecond) }
func (m *managers) refuse(which int) { m.links[which].Refuse() }

// pause stops a component of the control plane.
func pause(component string) func(*managers) func() {
	return func(m *managers) func() {
		if err := bed.Control.Pause(component); err != nil {
			m.Fatalf("pause %s: %v", component, err)
		}
		return func() {
			if err := bed.Control.Resume(component); err != nil {
				m.Fatalf("resume %s: %v", component, err)
			}
		}
	}
}

// kill kills a component of the control plane. It is started again at once, which takes a while.
func kill(component string) func(*managers) func() {
	return func(m *managers) func() {
		if err := bed.Control.Kill(component); err != nil {
			m.Fatalf("kill %s: %v", component, err)
		}
		return func() {
			if err := bed.Control.Restart(m.Context(), component); err != nil {
				m.Fatalf("restart %s: %v", component, err)
			}
		}
	}
}

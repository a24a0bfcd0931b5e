// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

const (
	succeeded = v1alpha1.ProbeSucceeded
	failed    = v1alpha1.ProbeFailed
	unknown   = v1alpha1.ProbeUnknown
)

func expectPlan(t *testing.T, s *Snapshot, want ...string) *Plan {
	t.Helper()
	plan := NewPlan(s)
	if diff := cmp.Diff(want, shown(plan)); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	return plan
}

func TestPlan(t *testing.T) {
	hour := now.Add(-time.Hour)
	for _, test := range []struct {
		name   string
		n      *v1alpha1.NodePodProbe
		probes []Probe
		want   []string
	}{
		{"nothing", newNodePodProbe(), nil, nil},
		{"no NodePodProbe", nil, []Probe{knows("web-0", "idle", is(failed))}, []string{"forget web-0 idle"}},
		{"PPM-4.2: a new probe runs at once", newNodePodProbe(wants("web-0", "idle")), nil, []string{"begin web-0 idle in 0s ", "start web-0 idle for 1s after 1s"}},
		{"PPM-4.8: what is reported goes on", newNodePodProbe(wants("web-0", "idle"), says("web-0", "idle", succeeded)), nil,
			[]string{"begin web-0 idle in 0s Succeeded", "start web-0 idle for 1s after 1s"}},
		{"numbers of its own", newNodePodProbe(wants("web-0", "idle", func(p *corev1.Probe) { p.TimeoutSeconds, p.InitialDelaySeconds = 5, 7 })), nil,
			[]string{"begin web-0 idle in 0s ", "start web-0 idle for 5s after 7s"}},
		{"PPM-4.2: it is not due", newNodePodProbe(wants("web-0", "idle")), []Probe{knows("web-0", "idle", ran(4*time.Second))}, []string{"again after 6s"}},
		{"PPM-4.2: it is due", newNodePodProbe(wants("web-0", "idle")), []Probe{knows("web-0", "idle", ran(10*time.Second))}, []string{"start web-0 idle for 1s after 1s"}},
		{"PPM-4.2: a shorter period counts at once", newNodePodProbe(wants("web-0", "idle", every(3))), []Probe{knows("web-0", "idle", ran(4*time.Second))}, []string{"start web-0 idle for 1s after 1s"}},
		{"PPM-4.2: and a longer one", newNodePodProbe(wants("web-0", "idle", every(60))), []Probe{knows("web-0", "idle", ran(10*time.Second))}, []string{"again after 50s"}},
		{"PPM-4.2: runs do not overlap", newNodePodProbe(wants("web-0", "idle")), []Probe{knows("web-0", "idle", ran(time.Minute), running)}, nil},
		{"PPM-4.3: a container that was too young", newNodePodProbe(wants("web-0", "idle", every(60))),
			[]Probe{knows("web-0", "idle", ran(3*time.Second), func(p *Probe) { p.Retry = now.Add(2 * time.Second) })}, []string{"again after 2s"}},
		{"PPM-4.8: a first state", newNodePodProbe(wants("web-0", "idle")), []Probe{knows("web-0", "idle", ran(time.Second), is(failed))},
			[]string{"status: web-0 idle Failed (why)", "event web-0 idle Failed", "again after 9s"}},
		{"PPM-4.8: the state stands, in the same words", newNodePodProbe(wants("web-0", "idle"), says("web-0", "idle", failed)), []Probe{knows("web-0", "idle", ran(time.Second), is(failed))}, []string{"again after 9s"}},
		{"PPM-4.13: the state stands, other words", newNodePodProbe(wants("web-0", "idle"), says("web-0", "idle", failed)), []Probe{knows("web-0", "idle", ran(time.Second), is(failed), prints("7 players"))},
			[]string{"status: web-0 idle Failed (7 players)", "again after 9s"}},
		{"PPM-4.13: other words too soon", newNodePodProbe(wants("web-0", "idle"), says("web-0", "idle", failed), told(4*time.Second)), []Probe{knows("web-0", "idle", ran(time.Second), is(failed), prints("7 players"))},
			[]string{"again after 7s"}},
		{"PPM-4.13: other words too soon after those of another probe", newNodePodProbe(wants("web-0", "idle"), says("web-0", "idle", failed), wants("web-0", "busy"), says("web-0", "busy", failed), told(4*time.Second)),
			[]Probe{knows("web-0", "idle", ran(time.Second), is(failed), prints("7 players")), knows("web-0", "busy", ran(time.Second), is(failed))}, []string{"again after 7s"}},
		{"PPM-4.13: they go with the state of another", newNodePodProbe(wants("web-0", "idle"), says("web-0", "idle", failed), wants("web-0", "busy"), says("web-0", "busy", failed), told(4*time.Second)),
			[]Probe{knows("web-0", "idle", ran(time.Second), is(failed), prints("7 players")), knows("web-0", "busy", ran(time.Second), is(succeeded), prints("8"))},
			[]string{"status: web-0 idle Failed (7 players), web-0 busy Succeeded (8)", "event web-0 busy Succeeded", "again after 9s"}},
		{"PPM-4.13: words of a clock that was ahead", newNodePodProbe(wants("web-0", "idle"), says("web-0", "idle", failed), told(-time.Hour)), []Probe{knows("web-0", "idle", ran(time.Second), is(failed), prints("7 players"))},
			[]string{"status: web-0 idle Failed (7 players)", "again after 9s"}},
		{"PPM-4.7: output that is to be hidden goes at once", newNodePodProbe(wants("web-0", "idle"), says("web-0", "idle", failed), told(4*time.Second), reports("secret"), hidden),
			[]Probe{knows("web-0", "idle", ran(time.Second), is(failed), prints("secret"))}, []string{"status: web-0 idle Failed (why)", "again after 9s"}},
		{"PPM-4.7: also by an agent that begins", newNodePodProbe(wants("web-0", "idle"), says("web-0", "idle", failed), told(4*time.Second), reports("secret"), hidden), nil,
			[]string{"begin web-0 idle in 0s Failed", "start web-0 idle for 1s after 1s", "status: web-0 idle Failed"}},
		{"PPM-4.9: unknown is no event", newNodePodProbe(wants("web-0", "idle"), says("web-0", "idle", failed)), []Probe{knows("web-0", "idle", ran(time.Second), is(unknown))},
			[]string{"status: web-0 idle Unknown (why)", "again after 9s"}},
		{"PPM-4.8: a probe that goes", newNodePodProbe(wants("web-0", "idle"), says("web-0", "idle", failed), says("web-0", "busy", failed)),
			[]Probe{knows("web-0", "busy", is(failed)), knows("web-0", "idle", ran(time.Second), is(failed))},
			[]string{"forget web-0 busy", "status: web-0 idle Failed (why)", "again after 9s"}},
		{"PPM-4.6: another handler", newNodePodProbe(wants("web-0", "idle"), says("web-0", "idle", failed)),
			[]Probe{knows("web-0", "idle", ran(time.Second), is(failed), func(p *Probe) { p.Handler = command("old").ProbeHandler })},
			[]string{"begin web-0 idle in 0s Unknown", "start web-0 idle for 1s after 1s", "status: web-0 idle Unknown"}},
		{"PPM-4.4: a host", newNodePodProbe(wants("web-0", "idle", func(p *corev1.Probe) {
			p.ProbeHandler = corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Host: "169.254.169.254", Port: intstr.FromInt32(80)}}
		})), nil, []string{"status: web-0 idle Unknown (it has a host, and a probe goes to the pod: it is not run)", "wait web-0 idle: it has a host, and a probe goes to the pod: it is not run"}},
		{"PPM-4.4: no handler", newNodePodProbe(wants("web-0", "idle", func(p *corev1.Probe) { p.Exec = nil })), []Probe{knows("web-0", "idle", is(failed))},
			[]string{"forget web-0 idle", "status: web-0 idle Unknown (it has no handler that is known: exec, httpGet or tcpSocket)", "wait web-0 idle: it has no handler that is known: exec, httpGet or tcpSocket"}},
		{"one name twice", newNodePodProbe(wants("web-0", "idle"), wants("web-0", "idle")), []Probe{knows("web-0", "idle", ran(time.Second))}, []string{"again after 9s"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			expectPlan(t, &Snapshot{NodePodProbe: test.n, Probes: test.probes, Began: hour, Now: now}, test.want...)
		})
	}
	if plan := NewPlan(nil); len(shown(plan)) > 0 {
		t.Errorf("no snapshot: %v", shown(plan))
	}
}

// PPM-4.2: the probes of a node do not all run at once when the agent starts.
func TestSpreadAtTheStart(t *testing.T) {
	n := newNodePodProbe()
	for i := range 100 {
		wants(fmt.Sprint("web-", i), "idle")(n)
	}
	s := &Snapshot{NodePodProbe: n, Began: now.Add(-time.Second), Now: now, Limits: Limits{Concurrency: 100, PerSecond: 1000}}
	plan := NewPlan(s)
	var tenths [10]int
	for _, p := range plan.Begin {
		tenths[p.First.Sub(now)/time.Second]++
	}
	for i, n := range tenths {
		if n < 2 || n > 25 {
			t.Errorf("%d of 100 probes begin in second %d: %v", n, i, tenths)
		}
	}
}

// PPM-4.10: how many probes there are, how many are under way, and how many are started.
func TestLimits(t *testing.T) {
	n := newNodePodProbe(wants("a", "p"), wants("b", "p"), wants("c", "p"))
	due := []Probe{knows("a", "p", ran(11*time.Second)), knows("b", "p", ran(13*time.Second)), knows("c", "p", ran(12*time.Second))}
	hour := now.Add(-time.Hour)

	expectPlan(t, &Snapshot{NodePodProbe: n, Probes: due, Began: hour, Now: now, Limits: Limits{Probes: 2}},
		"forget c p", "start b p for 1s after 1s", "start a p for 1s after 1s",
		"status: c p Unknown (the node runs 2 probes at most, and 2 of namespace shop: this one is not run)",
		"wait c p: the node runs 2 probes at most, and 2 of namespace shop: this one is not run")
	expectPlan(t, &Snapshot{NodePodProbe: n, Probes: due, Began: hour, Now: now, Running: 1, Limits: Limits{Concurrency: 2}},
		"start b p for 1s after 1s", "wait c p: 2 probes are under way, of shop (1)", "wait a p: 2 probes are under way, of shop (1)",
		"again after 1m48s") // the status says so then (PPM-4.12)

	s := &Snapshot{NodePodProbe: n, Probes: due, Began: hour, Now: now, Limits: Limits{PerSecond: 4}}
	plan := expectPlan(t, s, "start b p for 1s after 1s", "wait c p: the node has started enough probes for now",
		"wait a p: the node has started enough probes for now", "again after 50ms")
	if plan.Paced != now.Add(250*time.Millisecond) {
		t.Errorf("paced %v", plan.Paced.Sub(now))
	}
	s.Paced = plan.Paced
	s.Probes[1].Running = true
	s.Now = now.Add(50 * time.Millisecond)
	expectPlan(t, s, "start c p for 1s after 1s", "wait a p: the node has started enough probes for now", "again after 250ms")
}

// PPM-4.10: what one namespace asks for keeps no other from being probed.
func TestShares(t *testing.T) {
	hour := now.Add(-time.Hour)
	crowd := newNodePodProbe(wantsIn("evil", 3), wants("web-0", "idle"))
	plan := NewPlan(&Snapshot{NodePodProbe: crowd, Began: hour, Now: now, Limits: Limits{Probes: 3}})
	if diff := cmp.Diff([]string{"evil", "shop", "evil"}, started(plan)); diff != "" {
		t.Errorf("three places for the probes of two namespaces (-want +got):\n%s", diff)
	}

	s := &Snapshot{NodePodProbe: crowd, Began: hour, Now: now, Running: 2, Limits: Limits{Concurrency: 2}}
	for i := range 2 { // commands that do not end
		p := knows("evil", fmt.Sprint("p", i), ran(50*time.Second), running)
		p.Namespace = "evil"
		s.Probes = append(s.Probes, p)
	}
	if diff := cmp.Diff([]string{"shop"}, started(NewPlan(s))); diff != "" {
		t.Errorf("all slots are taken (-want +got):\n%s", diff)
	}
	if s.Running = 4; len(NewPlan(s).Start) > 0 {
		t.Error("twice as many are under way, and more are started")
	}
	paced := NewPlan(&Snapshot{NodePodProbe: crowd, Began: hour, Now: now, Limits: Limits{PerSecond: 10}})
	if diff := cmp.Diff([]string{"evil", "shop"}, started(paced)[:2]); diff != "" {
		t.Errorf("starts that are left (-want +got):\n%s", diff)
	}
}

// wantsIn has a pod of a namespace probed so often.
func wantsIn(namespace string, n int) change {
	return func(np *v1alpha1.NodePodProbe) {
		for i := range n {
			wants(namespace, fmt.Sprint("p", i), every(1))(np)
		}
		np.Spec.PodProbes[len(np.Spec.PodProbes)-1].Namespace = namespace
	}
}

func started(p *Plan) (namespaces []string) {
	for _, s := range p.Start {
		namespaces = append(namespaces, s.Namespace)
	}
	return namespaces
}

// PPM-4.12: a state that is of long ago is not known any more.
func TestOldStates(t *testing.T) {
	busy, hour := Limits{Concurrency: 1}, now.Add(-time.Hour)
	n := newNodePodProbe(wants("web-0", "idle"), says("web-0", "idle", succeeded))
	old := []Probe{knows("web-0", "idle", ran(2*time.Minute), is(succeeded))}
	const why = "the probe has not been run for 2m0s, 5 of its periods or more"
	expectPlan(t, &Snapshot{NodePodProbe: n, Probes: old, Running: 2, Began: hour, Now: now, Limits: busy},
		"begin web-0 idle in 0s Unknown", "status: web-0 idle Unknown ("+why+": 2 probes are under way)", "wait web-0 idle: 2 probes are under way")
	expectPlan(t, &Snapshot{NodePodProbe: n, Probes: old, Running: 2, Began: hour, Now: now.Add(-time.Second), Limits: busy},
		"wait web-0 idle: 2 probes are under way", "again after 1s")
	old[0].Running = true // the runtime has not answered
	expectPlan(t, &Snapshot{NodePodProbe: n, Probes: old, Running: 2, Began: hour, Now: now, Limits: busy},
		"begin web-0 idle in 0s Unknown", "status: web-0 idle Unknown ("+why+")", "wait web-0 idle: 2 probes are under way")
	old[0].Running = false // it has its turn, and the last result is of long ago all the same
	expectPlan(t, &Snapshot{NodePodProbe: n, Probes: old, Began: hour, Now: now, Limits: busy},
		"begin web-0 idle in 0s Unknown", "start web-0 idle for 1s after 1s", "status: web-0 idle Unknown ("+why+")")
	two := newNodePodProbe(wants("web-0", "idle"), says("web-0", "idle", succeeded), wantsIn("bank", 1))
	theirs := two.Spec.PodProbes[1]
	old = append(old, Probe{ID: ID{theirs.Namespace, theirs.Name, theirs.UID, theirs.Probes[0].ContainerName, theirs.Probes[0].Name},
		Handler: theirs.Probes[0].Probe.ProbeHandler, Last: now.Add(-time.Second), Running: true})
	p := expectPlan(t, &Snapshot{NodePodProbe: two, Probes: old, Running: 2, Began: hour, Now: now, Limits: busy},
		"begin web-0 idle in 0s Unknown", "status: web-0 idle Unknown ("+why+": 2 probes are under way, of bank (1))", "wait web-0 idle: 2 probes are under way, of bank (1)")
	if len(p.Begin) != 1 {
		t.Errorf("%d probes begin anew", len(p.Begin))
	}
	slow := newNodePodProbe(wants("web-0", "idle", every(600)), says("web-0", "idle", succeeded))
	expectPlan(t, &Snapshot{NodePodProbe: slow, Probes: []Probe{knows("web-0", "idle", ran(49*time.Minute), is(succeeded))}, Running: 2, Began: hour, Now: now, Limits: busy},
		"wait web-0 idle: 2 probes are under way", "again after 1m0s")
}

// PPM-4.12: a probe that has no result says what it waits for, if that takes long.
func TestNoStateYet(t *testing.T) {
	busy, hour, waiting := Limits{Concurrency: 1}, now.Add(-time.Hour), "wait web-0 idle: 2 probes are under way"
	first := func(ago time.Duration) func(*Probe) { return func(p *Probe) { p.First = now.Add(-ago) } }
	silent := func(p *Probe) { p.State, p.Since = v1alpha1.ProbeUnknown, now.Add(-time.Hour) } // of a handler that is new
	told := says("web-0", "idle", v1alpha1.ProbeUnknown)
	why := func(after string) string {
		return "the probe has not been run for " + after + ", 5 of its periods or more: 2 probes are under way"
	}
	for _, tt := range []struct {
		name   string
		node   *v1alpha1.NodePodProbe
		probe  Probe
		before time.Duration // now
		want   []string
	}{
		{"its first turn", newNodePodProbe(wants("web-0", "idle")), knows("web-0", "idle", first(2*time.Minute)), 0,
			[]string{"begin web-0 idle in -2m0s Unknown", "status: web-0 idle Unknown (" + why("2m0s") + ")", waiting}},
		{"not long yet", newNodePodProbe(wants("web-0", "idle")), knows("web-0", "idle", first(2*time.Minute)), time.Second, []string{waiting, "again after 1s"}},
		{"a long period", newNodePodProbe(wants("web-0", "idle", every(60))), knows("web-0", "idle", first(5*time.Minute)), 0,
			[]string{"begin web-0 idle in -5m0s Unknown", "status: web-0 idle Unknown (" + why("5m0s") + ")", waiting}},
		{"a turn after one without a result", newNodePodProbe(wants("web-0", "idle")), knows("web-0", "idle", first(time.Hour), ran(2*time.Minute)), 0,
			[]string{"begin web-0 idle in -1h0m0s Unknown", "status: web-0 idle Unknown (" + why("2m0s") + ")", waiting}},
		{"it is run, without a result", newNodePodProbe(wants("web-0", "idle")), knows("web-0", "idle", first(time.Hour), ran(time.Minute)), 0, []string{waiting, "again after 1m0s"}},
		{"unknown, without a reason", newNodePodProbe(wants("web-0", "idle"), told), knows("web-0", "idle", first(2*time.Minute), silent), 0,
			[]string{"begin web-0 idle in -2m0s Unknown", "status: web-0 idle Unknown (" + why("2m0s") + ")", waiting}},
		{"unknown, with a reason", newNodePodProbe(wants("web-0", "idle"), told), knows("web-0", "idle", first(time.Hour), is(v1alpha1.ProbeUnknown)), 0, []string{waiting}},
	} {
		t.Run("PPM-4.12: "+tt.name, func(t *testing.T) {
			expectPlan(t, &Snapshot{NodePodProbe: tt.node, Probes: []Probe{tt.probe}, Running: 2, Began: hour, Now: now.Add(-tt.before), Limits: busy}, tt.want...)
		})
	}
}

// PPM-4.10: how long a command may take.
func TestTimeout(t *testing.T) {
	long := newNodePodProbe(wants("web-0", "idle", func(p *corev1.Probe) { p.TimeoutSeconds = 1 << 30 }))
	expectPlan(t, &Snapshot{NodePodProbe: long, Probes: []Probe{knows("web-0", "idle", ran(10*time.Second))}, Now: now}, "start web-0 idle for 1m0s after 1s")
}

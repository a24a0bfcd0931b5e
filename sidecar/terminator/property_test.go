// SPDX-License-Identifier: Apache-2.0

package terminator

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/podwright/podwright/internal/podstate"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// model is a pod of random containers, whose node, agent and user do what they like.
type model struct {
	*rapid.T
	plan     func(*Snapshot) *Plan
	violate  func(rule, format string, args ...any)
	pod      *corev1.Pod
	request  *lifecyclev1alpha1.ContainerRecreateRequest
	now      time.Time
	agent    bool // it serves requests
	unpulled string
	created  int       // requests, since the last one was deleted
	given    time.Time // when the pod was first given the phase Succeeded; zero: it was not
}

// TestProperties: whatever happens, sidecars end after the main containers and not before,
// the main containers decide what has become of the pod, and it ends.
func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		newModel(t, NewPlan, func(rule, format string, args ...any) { t.Fatalf(rule+": "+format, args...) }).play()
	})
}

func newModel(t *rapid.T, plan func(*Snapshot) *Plan, violate func(string, string, ...any)) *model {
	m := &model{T: t, plan: plan, violate: violate, now: at, agent: rapid.Bool().Draw(t, "an agent")}
	if rapid.Bool().Draw(t, "no image is pulled") {
		m.unpulled = exitImage
	}
	policy := rapid.SampledFrom([]corev1.RestartPolicy{corev1.RestartPolicyNever, corev1.RestartPolicyOnFailure}).Draw(t, "policy")
	m.pod = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "uid"},
		Spec: corev1.PodSpec{RestartPolicy: policy, NodeName: "real", TerminationGracePeriodSeconds: new(int64(5))}}
	for i := range rapid.IntRange(1, 2).Draw(t, "main containers") {
		m.add(fmt.Sprint("main-", i), "")
	}
	for i := range rapid.IntRange(1, 3).Draw(t, "sidecars") {
		m.add(fmt.Sprint("side-", i), rapid.SampledFrom([]string{"r", "i", "ri", "ir"}).Draw(t, "marks"))
	}
	m.kubelet()
	return m
}

func (m *model) add(name, marks string) {
	c := containerOf(name, marks)
	c.Image = name + ":" + rapid.SampledFrom([]string{"0", "137", "143"}).Draw(m.T, "code of "+name)
	if policy := rapid.SampledFrom([]corev1.ContainerRestartPolicy{"", "", never, onFailure}).Draw(m.T, "policy of "+name); policy != "" {
		c.RestartPolicy = &policy
	}
	m.pod.Spec.Containers = append(m.pod.Spec.Containers, c)
}

func (m *model) play() {
	m.Repeat(map[string]func(*rapid.T){
		"":                     func(*rapid.T) {},
		"reconcile":            func(*rapid.T) { m.reconcile(3) },
		"reconcile, cut short": func(t *rapid.T) { m.reconcile(rapid.IntRange(0, 2).Draw(t, "writes")) },
		"the kubelet works":    func(*rapid.T) { m.kubelet() },
		"the kubelet learns":   func(*rapid.T) { m.learn() },
		"the kubelet writes the phase that it knows": func(*rapid.T) {
			if unaware(m.pod) {
				m.pod.Status.Phase = corev1.PodRunning
				m.settle()
			}
		},
		"the agent works":       func(*rapid.T) { m.serve() },
		"a main container ends": func(t *rapid.T) { m.exit(rapid.SampledFrom([]int32{0, 1}).Draw(t, "code")) },
		"the user deletes the request": func(*rapid.T) {
			m.request, m.created = nil, 0
		},
		"time passes": func(t *rapid.T) {
			m.now = m.now.Add(time.Duration(rapid.IntRange(0, 100).Draw(t, "seconds")) * time.Second)
		},
	})
	m.finish()
}

// reconcile applies a plan, as far as so many writes.
func (m *model) reconcile(writes int) {
	s := &Snapshot{Pod: m.pod.DeepCopy(), Node: nodes["real"], Request: m.request, Now: m.now}
	plan := m.plan(s)
	m.check(s, plan)
	if len(plan.Images) > 0 && writes > 0 {
		writes--
		for i := range m.pod.Spec.Containers {
			if image, replaced := plan.Images[m.pod.Spec.Containers[i].Name]; replaced {
				m.pod.Spec.Containers[i].Image = image
			}
		}
	}
	if plan.Phase != "" && writes > 0 {
		writes--
		give(m.pod, plan.Phase, m.now)
		if plan.Phase == corev1.PodSucceeded && m.given.IsZero() {
			m.given = m.now
		}
	}
	if plan.Create != nil && writes > 0 {
		m.created++
		m.request = plan.Create
		m.request.CreationTimestamp = metav1.NewTime(m.now)
		fillIn(m.request, m.pod)
	}
}

// check checks what a plan may do.
func (m *model) check(s *Snapshot, plan *Plan) {
	if plan.String() == "" {
		return
	}
	mains, sidecars, _ := containersOf(s.Pod)
	outcome := corev1.PodSucceeded
	for i := range mains {
		ended := mains[i].status.State.Terminated
		if ended == nil || restarts(s.Pod, mains[i].Container, ended.ExitCode) {
			m.violate("ST-2", "%s, while %s has not finished", plan, mains[i].Name)
			return
		}
		if ended.ExitCode != 0 {
			outcome = corev1.PodFailed
		}
	}
	switch {
	case len(unfinished(s.Pod, sidecars)) == 0:
		m.violate("ST-9", "%s, and everything has ended", plan)
	case podstate.Ended(s.Pod) && (plan.Phase != "" || len(plan.Images) > 0 || m.given.IsZero()):
		m.violate("ST-E2", "%s, and the pod has ended", plan)
	case plan.Phase != "" && plan.Phase != outcome:
		m.violate("ST-13", "%s, and the main containers have %s", plan, outcome)
	case plan.Create != nil && (s.Request != nil || m.created > 0):
		m.violate("ST-11", "%s, and there is a request", plan)
	case plan.Phase == corev1.PodFailed && s.Request == nil && anyRunning(sidecars):
		m.violate("ST-14", "%s, and nobody has asked the sidecars to end", plan)
	}
	for name, image := range plan.Images {
		for i := range s.Pod.Spec.Containers {
			if c := &s.Pod.Spec.Containers[i]; c.Name == name && c.Image == image {
				m.violate("ST-10", "%s, and the image stands", plan)
			}
		}
	}
}

func anyRunning(of []container) bool {
	for i := range of {
		if of[i].running() {
			return true
		}
	}
	return false
}

func (m *model) kubelet() {
	runContainers(m.pod, m.unpulled)
	m.settle()
}

func (m *model) learn() {
	if unaware(m.pod) {
		learn(m.pod)
	}
}

func (m *model) serve() {
	if m.request != nil && m.agent {
		stopContainers(m.request, m.pod)
		m.settle()
	}
}

// settle has the kubelet write the phase that it comes to. What it was given it keeps, if it learns of that in time.
func (m *model) settle() {
	before := m.pod.Status.Phase
	m.pod.Status.Phase = kubeletPhase(m.pod)
	if m.pod.Status.Phase == corev1.PodFailed && before != corev1.PodFailed && !m.given.IsZero() && m.now.Sub(m.given) < 30*time.Second {
		m.violate("ST-15", "the kubelet has failed a pod that was given the phase Succeeded: %+v", m.pod.Status)
	}
}

// exit ends the main containers that run.
func (m *model) exit(code int32) {
	if podstate.Ended(m.pod) {
		return
	}
	for i := range m.pod.Spec.Containers {
		if s := &m.pod.Status.ContainerStatuses[i]; !isSidecar(&m.pod.Spec.Containers[i]) && s.State.Running != nil {
			end(s, code)
		}
	}
	m.settle()
}

// finish lets the main containers succeed, and all others work. The pod has to end then.
func (m *model) finish() {
	for range 100 {
		m.exit(0)
		m.reconcile(3)
		m.serve()
		m.kubelet()
		m.learn()
		m.now = m.now.Add(2 * time.Second)
	}
	if !podstate.Ended(m.pod) {
		m.violate("ST-13", "the pod never ends: %+v", m.pod.Status)
	}
}

// The properties find what they are there for.
func TestPlantedBugs(t *testing.T) {
	for _, bug := range []struct {
		name, finds string
		plan        func(*Snapshot) *Plan
	}{
		{"the phase is left to the kubelet", "ST-13", func(s *Snapshot) *Plan { p := NewPlan(s); p.Phase = ""; return p }},
		{"the phase is always Succeeded", "ST-13", func(s *Snapshot) *Plan {
			p := NewPlan(s)
			if p.Phase != "" {
				p.Phase = corev1.PodSucceeded
			}
			return p
		}},
		{"the request does not wait for the kubelet", "ST-15", func(s *Snapshot) *Plan {
			changed := *s
			changed.Now = s.Now.Add(time.Hour)
			return NewPlan(&changed)
		}},
		{"every main container that has exited counts", "ST-2", func(s *Snapshot) *Plan {
			pod := s.Pod.DeepCopy()
			for i := range pod.Spec.Containers {
				if !isSidecar(&pod.Spec.Containers[i]) {
					policy := never
					pod.Spec.Containers[i].RestartPolicy = &policy
				}
			}
			changed := *s
			changed.Pod = pod
			return NewPlan(&changed)
		}},
		{"images are set again", "ST-10", func(s *Snapshot) *Plan {
			p := NewPlan(s)
			for i := range s.Pod.Spec.Containers {
				if c := &s.Pod.Spec.Containers[i]; isDue(s.Pod) && c.Image == exitImage {
					p.Images = map[string]string{c.Name: exitImage}
				}
			}
			return p
		}},
		{"the request is created again", "ST-11", func(s *Snapshot) *Plan {
			changed := *s
			changed.Request = nil
			return NewPlan(&changed)
		}},
	} {
		t.Run(bug.name, func(t *testing.T) {
			found := map[string]bool{}
			for seed := range 100 {
				play(seed, bug.plan, func(rule, _ string, _ ...any) { found[rule] = true })
			}
			if !found[bug.finds] {
				t.Errorf("%s does not find it, found %v", bug.finds, found)
			}
		})
	}
}

// play plays one history.
func play(seed int, plan func(*Snapshot) *Plan, violate func(string, string, ...any)) {
	rapid.Custom(func(t *rapid.T) bool {
		newModel(t, plan, violate).play()
		return true
	}).Example(seed)
}

// SPDX-License-Identifier: Apache-2.0

package inplace_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/v1alpha1"
)

// podModel is one pod on its node. A kubelet restarts its containers for new images. An agent restarts them for new environments
// while the pod is out of service.
type podModel struct {
	t        *testing.T
	rand     *rand.Rand
	pod      *corev1.Pod
	now      int
	env      map[string][]inplace.EnvValue // What each container was started with.
	runs     map[string]string             // The image of the spec that each was started from.
	knows    map[string]string             // The images of the spec that the kubelet knows,
	knowsEnv map[string][]inplace.EnvValue // and the environments.

	// What the node is like: whether its runtime has one name for two images of the same content, and whether containers crash.
	// Further: whether the kubelet reports generations, and the agent the hashes of containers.
	alias, crashes, generations, hashes bool
}

// exact tells whether the node reports enough to tell every container by.
func (m *podModel) exact() bool { return m.generations && (m.hashes || !m.alias && !m.crashes) }

// node has the kubelet take note of the pod, or lets one container catch up; and
// the agent report.
func (m *podModel) node() {
	i := m.rand.IntN(len(m.pod.Spec.Containers))
	c, s := &m.pod.Spec.Containers[i], &m.pod.Status.ContainerStatuses[i]
	outOfService := condition(m.pod, v1alpha1.InPlaceUpdateReady) == started
	switch {
	case m.rand.IntN(2) == 0:
		m.takeNote()
	case m.runs[c.Name] != m.knows[c.Name], m.crashes && m.rand.IntN(2) == 0,
		outOfService && !slices.Equal(m.env[c.Name], inplace.ExpectedEnv(m.pod, c)):
		m.start(s)
	}
	s.Ready = true
	m.report()
}

// takeNote has the kubelet know the present pod.
func (m *podModel) takeNote() {
	for i := range m.pod.Spec.Containers {
		c := &m.pod.Spec.Containers[i]
		m.knows[c.Name], m.knowsEnv[c.Name] = c.Image, inplace.ExpectedEnv(m.pod, c)
	}
	if m.generations {
		m.pod.Status.ObservedGeneration = m.pod.Generation
	}
}

// start starts a container by what the kubelet knows.
func (m *podModel) start(s *corev1.ContainerStatus) {
	image := m.knows[s.Name]
	m.runs[s.Name], m.env[s.Name] = image, m.knowsEnv[s.Name]
	if name, tag, _ := strings.Cut(image, ":"); m.alias && tag == "1" {
		image = name + ":0"
	}
	s.Image, s.ImageID = image, "id of "+image
	s.RestartCount++
	s.ContainerID = fmt.Sprintf("containerd://%s-%d", s.Name, s.RestartCount)
}

// report is that of the agent.
func (m *podModel) report() {
	var meta v1alpha1.RuntimeContainersMeta
	for i := range m.pod.Spec.Containers {
		c := m.pod.Spec.Containers[i]
		env, err := inplace.EnvHash(m.env[c.Name])
		if err != nil {
			m.t.Fatal(err)
		}
		plain := []uint64{1}
		if c.Image = m.runs[c.Name]; m.hashes {
			if plain, err = inplace.PlainHashes(&c); err != nil {
				m.t.Fatal(err)
			}
		}
		meta.Containers = append(meta.Containers, v1alpha1.RuntimeContainer{
			Name: c.Name, ContainerID: m.pod.Status.ContainerStatuses[i].ContainerID,
			Hashes: v1alpha1.RuntimeContainerHashes{PlainHash: plain[len(plain)-1], ExtractedEnvFromMetadataHash: env},
		})
	}
	report(m.t, m.pod, meta)
}

// apply makes a patch. The API server counts the changes of the spec.
func (m *podModel) apply(p podpatch.Patch) {
	before := images(m.pod)
	m.pod = apply(m.t, m.pod, p)
	if images(m.pod) != before {
		m.pod.Generation++
	}
}

func (m *podModel) refresh() bool {
	m.now++
	var p podpatch.Patch
	progress, err := inplace.Refresh(&p, m.pod, after(m.now))
	if err != nil {
		m.t.Fatal(err)
	}
	m.apply(p)
	return progress.Complete
}

// inService checks that nothing has still to restart in a pod that takes traffic.
func (m *podModel) inService() {
	if condition(m.pod, v1alpha1.InPlaceUpdateReady) != "True" {
		return
	}
	for i := range m.pod.Spec.Containers {
		c := &m.pod.Spec.Containers[i]
		if m.runs[c.Name] != c.Image && m.exact() {
			m.t.Errorf("in service while container %s runs %s and not %s", c.Name, m.runs[c.Name], c.Image)
		}
		if expected := inplace.ExpectedEnv(m.pod, c); !slices.Equal(m.env[c.Name], expected) {
			m.t.Errorf("in service while container %s has the environment %v and not %v", c.Name, m.env[c.Name], expected)
		}
	}
}

// A pod is sent through several templates, each before or after the last one is reached. It ends up as the last template,
// whatever the priorities, grace periods and the order in which its node works (IP-12 to IP-28). Meanwhile it is never in service
// with a container that has still to restart.
func TestManyUpdates(t *testing.T) {
	for seed := range uint64(300) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			m := &podModel{t: t, rand: rand.New(rand.NewPCG(seed, 1)), env: map[string][]inplace.EnvValue{}, runs: map[string]string{}, knows: map[string]string{}, knowsEnv: map[string][]inplace.EnvValue{}}
			m.alias, m.crashes = m.rand.IntN(2) == 0, m.rand.IntN(2) == 0
			m.generations, m.hashes = m.rand.IntN(2) == 0, m.rand.IntN(2) == 0
			current := m.template()
			m.pod = running(current)
			m.pod.Generation = 1
			m.takeNote()
			for i := range m.pod.Spec.Containers {
				m.start(&m.pod.Status.ContainerStatuses[i])
				if m.rand.IntN(3) > 0 {
					priority(i, fmt.Sprint(m.rand.IntN(3)))(m.pod)
				}
			}
			m.node()
			for n := range 4 {
				current = m.update(current, fmt.Sprintf("demo-%d", n))
				if m.alias && !m.hashes { // Nothing tells the images of one content from one another.
					m.settle()
				}
			}
			m.settle()
			m.arrived(current)
			if t.Failed() {
				_, why, _ := inplace.Complete(m.pod)
				t.Logf("alias %t, crashes %t, generations %t, hashes %t", m.alias, m.crashes, m.generations, m.hashes)
				t.Logf("runs %v, kubelet knows %v, spec %s, waiting: %s, state %s", m.runs, m.knows, images(m.pod), why, m.pod.Annotations[v1alpha1.StateAnnotation])
			}
		})
	}
}

// settle has the node work until the update is complete, and the kubelet has
// nothing more to do.
func (m *podModel) settle() {
	for range 200 {
		m.node()
		if m.refresh() && maps.Equal(m.runs, m.knows) && !slices.ContainsFunc(m.pod.Spec.Containers,
			func(c corev1.Container) bool { return m.knows[c.Name] != c.Image }) {
			break
		}
		m.inService()
	}
}

// update starts the way to a new template and goes some steps of it.
func (m *podModel) update(from *corev1.PodTemplateSpec, name string) *corev1.PodTemplateSpec {
	for inplace.InGrace(m.pod) {
		m.refresh()
	}
	to := m.template()
	u := calculate(m.t, from, to)
	u.Revision = name
	var p podpatch.Patch
	if err := inplace.Begin(&p, m.pod, u, inplace.BeginOptions{Now: after(m.now), GracePeriodSeconds: int32(m.rand.IntN(4)) - 1}); err != nil {
		m.t.Fatal(err)
	}
	p.SetLabel(appsv1.ControllerRevisionHashLabelKey, name)
	m.apply(p)
	for range m.rand.IntN(8) {
		if m.rand.IntN(2) == 0 {
			m.node()
		} else {
			m.refresh()
		}
		m.inService()
	}
	return to
}

// template returns a template with random images, labels and annotations. The
// environments refer to k and l, which are always there.
func (m *podModel) template() *corev1.PodTemplateSpec {
	value := func() string { return fmt.Sprint(m.rand.IntN(3)) }
	seldom := func() string { // Mostly it is for one image that a container restarts.
		if m.rand.IntN(4) > 0 {
			return "0"
		}
		return value()
	}
	t := template(
		label("k", seldom()), annotate("l", seldom()),
		env(0, "K", "metadata.labels['k']"), env(1, "L", "metadata.annotations['l']"), env(1, "K", "metadata.labels['k']"),
	)
	for i := range t.Spec.Containers {
		tag := value
		if i > 0 {
			tag = seldom
		}
		t.Spec.Containers[i].Image = t.Spec.Containers[i].Name + ":" + tag()
	}
	for _, key := range []string{"x", "y"} {
		if m.rand.IntN(2) == 0 {
			t.Labels[key], t.Annotations[key] = value(), value()
		}
	}
	return t
}

func (m *podModel) arrived(want *corev1.PodTemplateSpec) {
	if got := images(m.pod); got != images(&corev1.Pod{Spec: want.Spec}) {
		m.t.Errorf("images: got %s, want %s", got, images(&corev1.Pod{Spec: want.Spec}))
	}
	for _, key := range []string{"k", "x", "y"} {
		if got, want := m.pod.Labels[key], want.Labels[key]; got != want {
			m.t.Errorf("label %s: got %q, want %q", key, got, want)
		}
	}
	for _, key := range []string{"l", "x", "y"} {
		if got, want := m.pod.Annotations[key], want.Annotations[key]; got != want {
			m.t.Errorf("annotation %s: got %q, want %q", key, got, want)
		}
	}
	if c := condition(m.pod, v1alpha1.InPlaceUpdateReady); c != "True" {
		m.t.Errorf("the update does not end: %s, %v", c, slices.Sorted(maps.Keys(m.pod.Annotations)))
	}
	m.inService()
}

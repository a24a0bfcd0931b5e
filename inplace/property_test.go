package inplace_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/v1alpha1"
)

// world is one pod on its node: a kubelet that restarts containers for new
// images, and an agent that restarts them for new environments while the pod
// is out of service.
type world struct {
	t    *testing.T
	rand *rand.Rand
	pod  *corev1.Pod
	now  int
	env  map[string][]inplace.EnvValue // What each container was started with.
}

// node lets one container catch up, and the agent report.
func (w *world) node() {
	i := w.rand.IntN(len(w.pod.Spec.Containers))
	c, s := &w.pod.Spec.Containers[i], &w.pod.Status.ContainerStatuses[i]
	expected := inplace.ExpectedEnv(w.pod, c)
	outOfService := condition(w.pod, v1alpha1.InPlaceUpdateReady) == started
	if s.Image != c.Image || outOfService && !slices.Equal(w.env[c.Name], expected) {
		s.Image, s.ImageID = c.Image, "id of "+c.Image
		s.RestartCount++
		s.ContainerID = fmt.Sprintf("containerd://%s-%d", c.Name, s.RestartCount)
		w.env[c.Name] = expected
	}
	s.Ready = true
	var meta v1alpha1.RuntimeContainersMeta
	for i := range w.pod.Spec.Containers {
		name := w.pod.Spec.Containers[i].Name
		hash, err := inplace.EnvHash(w.env[name])
		if err != nil {
			w.t.Fatal(err)
		}
		meta.Containers = append(meta.Containers, v1alpha1.RuntimeContainer{
			Name: name, ContainerID: w.pod.Status.ContainerStatuses[i].ContainerID,
			Hashes: v1alpha1.RuntimeContainerHashes{PlainHash: 1, ExtractedEnvFromMetadataHash: hash},
		})
	}
	report(w.t, w.pod, meta)
}

func (w *world) refresh() bool {
	w.now++
	var progress inplace.Progress
	w.pod, progress = refresh(w.t, w.pod, after(w.now))
	return progress.Complete
}

// inService checks that nothing has still to restart in a pod that takes traffic.
func (w *world) inService() {
	if condition(w.pod, v1alpha1.InPlaceUpdateReady) != "True" {
		return
	}
	for i := range w.pod.Spec.Containers {
		c, s := &w.pod.Spec.Containers[i], &w.pod.Status.ContainerStatuses[i]
		if c.Image != s.Image {
			w.t.Errorf("in service while container %s runs %s and not %s", c.Name, s.Image, c.Image)
		}
		if expected := inplace.ExpectedEnv(w.pod, c); !slices.Equal(w.env[c.Name], expected) {
			w.t.Errorf("in service while container %s has the environment %v and not %v", c.Name, w.env[c.Name], expected)
		}
	}
}

// A pod that is sent through several templates, each before or after the last
// one is reached, ends up as the last template, whatever the priorities, grace
// periods and the order in which its node works (rules 12 to 28). Meanwhile it
// is never in service with a container that has still to restart.
func TestManyUpdates(t *testing.T) {
	for seed := range uint64(300) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			w := &world{t: t, rand: rand.New(rand.NewPCG(seed, 1)), env: map[string][]inplace.EnvValue{}}
			current := w.template()
			w.pod = running(current)
			for i := range w.pod.Spec.Containers {
				w.env[w.pod.Spec.Containers[i].Name] = inplace.ExpectedEnv(w.pod, &w.pod.Spec.Containers[i])
				if w.rand.IntN(3) > 0 {
					priority(i, fmt.Sprint(w.rand.IntN(3)))(w.pod)
				}
			}
			w.node()
			for n := range 4 {
				current = w.update(current, fmt.Sprintf("demo-%d", n))
			}
			for range 200 {
				w.node()
				if w.refresh() {
					break
				}
				w.inService()
			}
			w.arrived(current)
		})
	}
}

// update starts the way to a new template and goes some steps of it.
func (w *world) update(from *corev1.PodTemplateSpec, name string) *corev1.PodTemplateSpec {
	for inplace.InGrace(w.pod) {
		w.refresh()
	}
	to := w.template()
	u := calculate(w.t, from, to)
	u.Revision = name
	var p podpatch.Patch
	if err := inplace.Begin(&p, w.pod, u, inplace.BeginOptions{Now: after(w.now), GracePeriodSeconds: int32(w.rand.IntN(4)) - 1}); err != nil {
		w.t.Fatal(err)
	}
	p.SetLabel(appsv1.ControllerRevisionHashLabelKey, name)
	w.pod = apply(w.t, w.pod, p)
	for range w.rand.IntN(8) {
		if w.rand.IntN(2) == 0 {
			w.node()
		} else {
			w.refresh()
		}
		w.inService()
	}
	return to
}

// template returns a template with random images, labels and annotations. The
// environments refer to k and l, which are always there.
func (w *world) template() *corev1.PodTemplateSpec {
	value := func() string { return fmt.Sprint(w.rand.IntN(3)) }
	t := template(
		label("k", value()), annotate("l", value()),
		env(0, "K", "metadata.labels['k']"), env(1, "L", "metadata.annotations['l']"), env(1, "K", "metadata.labels['k']"),
	)
	for i := range t.Spec.Containers {
		t.Spec.Containers[i].Image = t.Spec.Containers[i].Name + ":" + value()
	}
	for _, key := range []string{"x", "y"} {
		if w.rand.IntN(2) == 0 {
			t.Labels[key], t.Annotations[key] = value(), value()
		}
	}
	return t
}

func (w *world) arrived(want *corev1.PodTemplateSpec) {
	if got := images(w.pod); got != images(&corev1.Pod{Spec: want.Spec}) {
		w.t.Errorf("images: got %s, want %s", got, images(&corev1.Pod{Spec: want.Spec}))
	}
	for _, key := range []string{"k", "x", "y"} {
		if got, want := w.pod.Labels[key], want.Labels[key]; got != want {
			w.t.Errorf("label %s: got %q, want %q", key, got, want)
		}
	}
	for _, key := range []string{"l", "x", "y"} {
		if got, want := w.pod.Annotations[key], want.Annotations[key]; got != want {
			w.t.Errorf("annotation %s: got %q, want %q", key, got, want)
		}
	}
	if c := condition(w.pod, v1alpha1.InPlaceUpdateReady); c != "True" {
		w.t.Errorf("the update does not end: %s, %v", c, slices.Sorted(maps.Keys(w.pod.Annotations)))
	}
	w.inService()
}

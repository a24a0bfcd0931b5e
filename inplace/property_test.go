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

// world is one pod on its node: a kubelet that restarts containers for new
// images, and an agent that restarts them for new environments while the pod
// is out of service.
type world struct {
	t        *testing.T
	rand     *rand.Rand
	pod      *corev1.Pod
	now      int
	env      map[string][]inplace.EnvValue // What each container was started with.
	runs     map[string]string             // The image of the spec that each was started from.
	knows    map[string]string             // The images of the spec that the kubelet knows,
	knowsEnv map[string][]inplace.EnvValue // and the environments.

	// What the node is like: whether its runtime has one name for two images of the
	// same content, whether containers crash, whether the kubelet reports generations
	// and the agent the hashes of containers.
	alias, crashes, generations, hashes bool
}

// exact tells whether the node reports enough to tell every container by.
func (w *world) exact() bool { return w.generations && (w.hashes || !w.alias && !w.crashes) }

// node has the kubelet take note of the pod, or lets one container catch up; and
// the agent report.
func (w *world) node() {
	i := w.rand.IntN(len(w.pod.Spec.Containers))
	c, s := &w.pod.Spec.Containers[i], &w.pod.Status.ContainerStatuses[i]
	outOfService := condition(w.pod, v1alpha1.InPlaceUpdateReady) == started
	switch {
	case w.rand.IntN(2) == 0:
		w.takeNote()
	case w.runs[c.Name] != w.knows[c.Name], w.crashes && w.rand.IntN(2) == 0,
		outOfService && !slices.Equal(w.env[c.Name], inplace.ExpectedEnv(w.pod, c)):
		w.start(s)
	}
	s.Ready = true
	w.report()
}

// takeNote has the kubelet know the pod as it is.
func (w *world) takeNote() {
	for i := range w.pod.Spec.Containers {
		c := &w.pod.Spec.Containers[i]
		w.knows[c.Name], w.knowsEnv[c.Name] = c.Image, inplace.ExpectedEnv(w.pod, c)
	}
	if w.generations {
		w.pod.Status.ObservedGeneration = w.pod.Generation
	}
}

// start starts a container by what the kubelet knows.
func (w *world) start(s *corev1.ContainerStatus) {
	image := w.knows[s.Name]
	w.runs[s.Name], w.env[s.Name] = image, w.knowsEnv[s.Name]
	if name, tag, _ := strings.Cut(image, ":"); w.alias && tag == "1" {
		image = name + ":0"
	}
	s.Image, s.ImageID = image, "id of "+image
	s.RestartCount++
	s.ContainerID = fmt.Sprintf("containerd://%s-%d", s.Name, s.RestartCount)
}

// report is that of the agent.
func (w *world) report() {
	var meta v1alpha1.RuntimeContainersMeta
	for i := range w.pod.Spec.Containers {
		c := w.pod.Spec.Containers[i]
		env, err := inplace.EnvHash(w.env[c.Name])
		if err != nil {
			w.t.Fatal(err)
		}
		plain := []uint64{1}
		if c.Image = w.runs[c.Name]; w.hashes {
			if plain, err = inplace.PlainHashes(&c); err != nil {
				w.t.Fatal(err)
			}
		}
		meta.Containers = append(meta.Containers, v1alpha1.RuntimeContainer{
			Name: c.Name, ContainerID: w.pod.Status.ContainerStatuses[i].ContainerID,
			Hashes: v1alpha1.RuntimeContainerHashes{PlainHash: plain[len(plain)-1], ExtractedEnvFromMetadataHash: env},
		})
	}
	report(w.t, w.pod, meta)
}

// apply makes a patch. The API server counts the changes of the spec.
func (w *world) apply(p podpatch.Patch) {
	before := images(w.pod)
	w.pod = apply(w.t, w.pod, p)
	if images(w.pod) != before {
		w.pod.Generation++
	}
}

func (w *world) refresh() bool {
	w.now++
	var p podpatch.Patch
	progress, err := inplace.Refresh(&p, w.pod, after(w.now))
	if err != nil {
		w.t.Fatal(err)
	}
	w.apply(p)
	return progress.Complete
}

// inService checks that nothing has still to restart in a pod that takes traffic.
func (w *world) inService() {
	if condition(w.pod, v1alpha1.InPlaceUpdateReady) != "True" {
		return
	}
	for i := range w.pod.Spec.Containers {
		c := &w.pod.Spec.Containers[i]
		if w.runs[c.Name] != c.Image && w.exact() {
			w.t.Errorf("in service while container %s runs %s and not %s", c.Name, w.runs[c.Name], c.Image)
		}
		if expected := inplace.ExpectedEnv(w.pod, c); !slices.Equal(w.env[c.Name], expected) {
			w.t.Errorf("in service while container %s has the environment %v and not %v", c.Name, w.env[c.Name], expected)
		}
	}
}

// A pod that is sent through several templates, each before or after the last
// one is reached, ends up as the last template, whatever the priorities, grace
// periods and the order in which its node works (IP-12 to IP-28). Meanwhile it
// is never in service with a container that has still to restart.
func TestManyUpdates(t *testing.T) {
	for seed := range uint64(300) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			w := &world{t: t, rand: rand.New(rand.NewPCG(seed, 1)), env: map[string][]inplace.EnvValue{}, runs: map[string]string{}, knows: map[string]string{}, knowsEnv: map[string][]inplace.EnvValue{}}
			w.alias, w.crashes = w.rand.IntN(2) == 0, w.rand.IntN(2) == 0
			w.generations, w.hashes = w.rand.IntN(2) == 0, w.rand.IntN(2) == 0
			current := w.template()
			w.pod = running(current)
			w.pod.Generation = 1
			w.takeNote()
			for i := range w.pod.Spec.Containers {
				w.start(&w.pod.Status.ContainerStatuses[i])
				if w.rand.IntN(3) > 0 {
					priority(i, fmt.Sprint(w.rand.IntN(3)))(w.pod)
				}
			}
			w.node()
			for n := range 4 {
				current = w.update(current, fmt.Sprintf("demo-%d", n))
				if w.alias && !w.hashes { // Nothing tells the images of one content from one another.
					w.settle()
				}
			}
			w.settle()
			w.arrived(current)
			if t.Failed() {
				_, why, _ := inplace.Complete(w.pod)
				t.Logf("alias %t, crashes %t, generations %t, hashes %t", w.alias, w.crashes, w.generations, w.hashes)
				t.Logf("runs %v, kubelet knows %v, spec %s, waiting: %s, state %s", w.runs, w.knows, images(w.pod), why, w.pod.Annotations[v1alpha1.StateAnnotation])
			}
		})
	}
}

// settle has the node work until the update is complete, and the kubelet has
// nothing more to do.
func (w *world) settle() {
	for range 200 {
		w.node()
		if w.refresh() && maps.Equal(w.runs, w.knows) && !slices.ContainsFunc(w.pod.Spec.Containers,
			func(c corev1.Container) bool { return w.knows[c.Name] != c.Image }) {
			break
		}
		w.inService()
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
	w.apply(p)
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
	seldom := func() string { // Mostly it is for one image that a container restarts.
		if w.rand.IntN(4) > 0 {
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

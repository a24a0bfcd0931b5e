// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/sidecar/injection"
	sidecarv1alpha1 "github.com/podwright/podwright/sidecar/v1alpha1"
)

// sidecars is a generation of a SidecarSet whose containers log and mesh, which is upgraded hot, have its number as their tag.
func sidecars(generation int64, edits ...func(*sidecarv1alpha1.SidecarSet)) *sidecarv1alpha1.SidecarSet {
	tag := string('0' + rune(generation))
	set := &sidecarv1alpha1.SidecarSet{ObjectMeta: metav1.ObjectMeta{Name: "side", UID: "side", Generation: generation}, Spec: sidecarv1alpha1.SidecarSetSpec{
		Selector: selector, UpdateStrategy: sidecarv1alpha1.SidecarSetUpdateStrategy{MaxUnavailable: new(intstr.FromInt32(1))},
		Containers: []sidecarv1alpha1.SidecarContainer{
			{Container: corev1.Container{Name: "log", Image: "log:" + tag}},
			{Container: corev1.Container{Name: "mesh", Image: "mesh:" + tag}, UpgradeStrategy: sidecarv1alpha1.SidecarContainerUpgradeStrategy{
				UpgradeType: sidecarv1alpha1.SidecarContainerHotUpgrade, HotUpgradeEmptyImage: "empty:1"}},
		},
	}}
	for _, edit := range edits {
		edit(set)
	}
	return set
}

// injected is a pod that serves, with what a SidecarSet injects.
func injected(t *testing.T, set *sidecarv1alpha1.SidecarSet, name string, edits ...func(*corev1.Pod)) *corev1.Pod {
	t.Helper()
	result, err := injection.Inject(injection.Input{Pod: pod(name), SidecarSets: []*sidecarv1alpha1.SidecarSet{set}, Now: time.Unix(1, 0)})
	if err != nil {
		t.Fatal(err)
	}
	p := result.Pod
	started(p)
	for _, edit := range edits {
		edit(p)
	}
	return p
}

// started has all containers run the images of their spec.
func started(p *corev1.Pod) {
	p.Status.ContainerStatuses = nil
	for _, c := range p.Spec.Containers {
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{Name: c.Name, Image: c.Image, Ready: true})
	}
}

// runsAs gives a container an image that does not run yet.
func runsAs(container, image string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Containers[slices.IndexFunc(p.Spec.Containers, func(c corev1.Container) bool { return c.Name == container })].Image = image
	}
}

// statusOf gives a pod the status of another one.
func statusOf(other *corev1.Pod) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Status = *other.Status.DeepCopy() }
}

// restarted has a container been restarted.
func restarted(container string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.ContainerStatuses[slices.IndexFunc(p.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool { return s.Name == container })].RestartCount++
	}
}

func TestSidecarSetsAreJudged(t *testing.T) {
	first, second := sidecars(1), sidecars(2)
	stopped := sidecars(2, func(set *sidecarv1alpha1.SidecarSet) { set.Spec.UpdateStrategy.Paused = true })
	a, b := injected(t, first, "web-a"), injected(t, first, "web-b")
	// The update of a pod: log is replaced, and the container of mesh beside the one that works.
	update := func(of *corev1.Pod, edits ...func(*corev1.Pod)) *corev1.Pod {
		return injected(t, second, of.Name, append([]func(*corev1.Pod){statusOf(of), runsAs("mesh-1", "mesh:1"), runsAs("mesh-2", "mesh:2")}, edits...)...)
	}
	emptied := []func(*corev1.Pod){started, runsAs("mesh-1", "empty:1")}
	there := []Change{{New: first}, {New: a}, {New: b}}
	asked := slices.Concat(there, []Change{{Old: first, New: second}})
	there, asked = slices.Clip(there), slices.Clip(asked)
	for _, test := range []struct {
		name    string
		changes []Change
		wrong   []invariants.Invariant
	}{
		{"a pod with all that is injected", there, nil},
		{"a pod without", []Change{{New: first}, {New: pod("web-a")}}, breaks(invariants.Identity, invariants.Partition)},
		{"a pod that is not selected", []Change{{New: first}, {New: pod("web-a", func(p *corev1.Pod) { p.Labels = nil })}}, nil},
		{"a pod with an image that no set asks for", []Change{{New: first}, {New: update(a)}}, breaks(invariants.Partition)},
		{"a pod of the revision before", []Change{{New: first}, {New: second}, {New: a}}, nil},

		{"updated", append(asked, Change{Old: a, New: update(a)}), nil},
		{"updated in the container that works", append(asked, Change{Old: a, New: update(a, runsAs("mesh-1", "mesh:2"), runsAs("mesh-2", "empty:1"))}), breaks(invariants.Hot)},
		{"updated to what no set asks for", append(there, Change{Old: a, New: update(a)}), breaks(invariants.Partition)},
		{"updated while paused", []Change{{New: stopped}, {New: a}, {Old: a, New: update(a)}}, breaks(invariants.Paused)},
		{"updated before it is paused", append(asked, Change{Old: second, New: sidecars(3, func(set *sidecarv1alpha1.SidecarSet) { set.Spec.UpdateStrategy.Paused = true })}, Change{Old: a, New: update(a)}), nil},
		{"updated with something else", append(asked, Change{Old: a, New: update(a, runsAs("main", "web:2"))}), breaks(invariants.InPlace)},
		{"updated while its workload updates it", append(asked, Change{Old: a, New: injected(t, first, "web-a", aside)}, Change{Old: injected(t, first, "web-a", aside), New: update(a, aside)}), breaks(invariants.Exclusive)},
		{"updated while another one is", append(asked, Change{Old: a, New: update(a)}, Change{Old: b, New: update(b)}), breaks(invariants.Availability)},
		{"updated while another one is, and does not serve itself", append(asked, Change{Old: a, New: update(a)}, Change{Old: b, New: injected(t, first, "web-b", out)},
			Change{Old: injected(t, first, "web-b", out), New: update(b, out)}), nil},
		{"updated while the container before of another one is not empty", append(asked, Change{Old: a, New: update(a)}, Change{Old: update(a), New: update(a, started)}, Change{Old: b, New: update(b)}), breaks(invariants.Availability)},
		{"updated after another one", append(asked, Change{Old: a, New: update(a)}, Change{Old: update(a), New: update(a, started)},
			Change{Old: update(a, started), New: update(a, emptied...)}, Change{Old: update(a, emptied...), New: update(a, append(emptied, started)...)}, Change{Old: b, New: update(b)}), nil},
		{"updated while its workload updates another one, whose sidecars serve", append(asked, Change{Old: a, New: update(a)}, Change{Old: update(a), New: update(a, append(emptied, started, out, aside)...)},
			Change{Old: b, New: update(b)}), nil},
		{"updated while its workload updates another one, of which the container before is not empty", append(asked, Change{Old: a, New: update(a)}, Change{Old: update(a), New: update(a, started, out, aside)},
			Change{Old: b, New: update(b)}), nil}, // SCS-8
		{"updated while its workload updates another one, whose sidecars do not serve yet", append(asked, Change{Old: a, New: update(a)}, Change{Old: update(a), New: update(a, out, aside)},
			Change{Old: b, New: update(b)}), breaks(invariants.Availability)},
		{"updated when another one is gone", append(asked, Change{Old: a, New: update(a)}, Change{Old: update(a)}, Change{Old: b, New: update(b)}), nil},
		{"emptied once the other one serves", append(asked, Change{Old: update(a, started), New: update(a, emptied...)}), nil},
		{"emptied before the other one serves", append(asked, Change{Old: update(a), New: update(a, runsAs("mesh-1", "empty:1"))}), breaks(invariants.Hot)},

		{"restarted with its image", append(asked, Change{Old: a, New: update(a)}, Change{Old: update(a), New: update(a, started, restarted("log"))}), nil},
		{"restarted twice with one image", append(asked, Change{Old: a, New: update(a)}, Change{Old: update(a), New: update(a, started, restarted("log"), restarted("log"))}), breaks(invariants.InPlace)},
		{"restarted beside", append(asked, Change{Old: a, New: update(a)}, Change{Old: update(a), New: update(a, started, restarted("main"))}), breaks(invariants.InPlace)},
	} {
		if diff := cmp.Diff(test.wrong, see(NewJudge(), test.changes...)); diff != "" {
			t.Errorf("%s: violated (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestSettledSidecarSetsAreJudged(t *testing.T) {
	counting := func(generation int64, status sidecarv1alpha1.SidecarSetStatus) *sidecarv1alpha1.SidecarSet {
		return sidecars(generation, func(set *sidecarv1alpha1.SidecarSet) { set.Status = status })
	}
	all, half := sidecarv1alpha1.SidecarSetStatus{MatchedPods: 2, UpdatedPods: 2, ReadyPods: 2, UpdatedReadyPods: 2}, sidecarv1alpha1.SidecarSetStatus{MatchedPods: 2, UpdatedPods: 1, ReadyPods: 2, UpdatedReadyPods: 1}
	a, b := injected(t, sidecars(1), "web-a"), injected(t, sidecars(1), "web-b")
	updated := injected(t, sidecars(2), "web-a")
	for _, test := range []struct {
		name  string
		set   *sidecarv1alpha1.SidecarSet
		pods  []*corev1.Pod
		wrong []invariants.Invariant
	}{
		{"all is updated", counting(1, all), []*corev1.Pod{a, b}, nil},
		{"one that does not count has ended", counting(1, all), []*corev1.Pod{a, b, injected(t, sidecars(1), "web-c", ended)}, nil},
		{"one is not updated", counting(2, half), []*corev1.Pod{updated, b}, breaks(invariants.Settled)},
		{"one is left", sidecars(2, func(set *sidecarv1alpha1.SidecarSet) {
			set.Spec.UpdateStrategy.Partition, set.Status = new(intstr.FromInt32(1)), half
		}), []*corev1.Pod{updated, b}, nil},
		{"it counts wrongly", counting(1, half), []*corev1.Pod{a, b}, breaks(invariants.Status)},
		{"one does not serve", counting(1, all), []*corev1.Pod{a, injected(t, sidecars(1), "web-b", out)}, breaks(invariants.Settled)},
		{"one has not the image that it says", counting(1, all), []*corev1.Pod{a, injected(t, sidecars(1), "web-b", runsAs("log", "log:2"), started)}, breaks(invariants.Settled, invariants.Status)},
		{"one is not emptied", counting(1, all), []*corev1.Pod{a, injected(t, sidecars(1), "web-b", runsAs("mesh-2", "mesh:2"), started)}, breaks(invariants.Settled)},
	} {
		j := NewJudge()
		see(j, Change{New: test.set})
		for _, p := range test.pods {
			see(j, Change{New: p})
		}
		if diff := cmp.Diff(test.wrong, kinds(j.Settled())); diff != "" {
			t.Errorf("%s: violated (-want +got):\n%s", test.name, diff)
		}
	}
}

// What SidecarSets make of a pod is nothing to its workload, which may know pods whose sidecars start as they were before.
func TestWorkloadsAreJudgedDespiteSidecars(t *testing.T) {
	one := &spec{replicas: 3, image: "web:2", unavailable: 1}
	set := one.cloneSet(metav1.ObjectMeta{Name: "web", UID: setUID, Generation: 1})
	a, b, c := injected(t, sidecars(1), "web-a"), injected(t, sidecars(1), "web-b"), injected(t, sidecars(1), "web-c")
	starts := injected(t, sidecars(1), "web-b", out, func(p *corev1.Pod) { p.Status.ContainerStatuses[0].Ready = false })
	fails := injected(t, sidecars(1), "web-b", out, func(p *corev1.Pod) {
		p.Status.ContainerStatuses[slices.IndexFunc(p.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool { return s.Name == "main" })].Ready = false
	})
	taken := injected(t, sidecars(1), "web-c", out, aside)
	startsToo := injected(t, sidecars(1), "web-c", statusOf(starts))
	for _, test := range []struct {
		name   string
		change []Change
		wrong  []invariants.Invariant
	}{
		{"taken out", []Change{{Old: c, New: taken}}, nil},
		{"taken out while a sidecar of another one starts", []Change{{Old: b, New: starts}, {Old: c, New: taken}}, nil},
		{"taken out while another one does not serve", []Change{{Old: b, New: fails}, {Old: c, New: taken}}, breaks(invariants.Availability)},
		{"a sidecar starts while another one does not serve", []Change{{Old: b, New: fails}, {Old: c, New: startsToo}}, nil},
	} {
		j := NewJudge()
		see(j, Change{New: (&spec{replicas: 3, image: "web:1", unavailable: 1}).revision(t)}, Change{New: one.revision(t)}, Change{New: sidecars(1)}, Change{New: set}, Change{New: a}, Change{New: b}, Change{New: c})
		j.Settled()
		if diff := cmp.Diff(test.wrong, see(j, test.change...)); diff != "" {
			t.Errorf("%s: violated (-want +got):\n%s", test.name, diff)
		}
	}
}

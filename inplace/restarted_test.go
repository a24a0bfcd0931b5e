// SPDX-License-Identifier: Apache-2.0

package inplace_test

import (
	"encoding/json"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/v1alpha1"
)

// reports has container c1 of a pod report an image, an image ID and a
// container; empty texts for what is not reported.
func reports(image, imageID, container string) func(*testing.T, *corev1.Pod) {
	return func(_ *testing.T, pod *corev1.Pod) {
		s := &pod.Status.ContainerStatuses[0]
		s.Image, s.ImageID, s.ContainerID, s.Ready = image, imageID, container, container != ""
	}
}

// generations sets the generation of the pod and the one that the kubelet reports on.
func generations(has, observed int64) func(*testing.T, *corev1.Pod) {
	return func(_ *testing.T, pod *corev1.Pod) { pod.Generation, pod.Status.ObservedGeneration = has, observed }
}

// startedFrom has the node agent report that the container of c1 was started from its spec with an image. The argument pick says
// by which of the hashes.
func startedFrom(image string, pick int) func(*testing.T, *corev1.Pod) {
	return func(t *testing.T, pod *corev1.Pod) {
		agent(t, pod)
		meta := readMeta(t, pod)
		c := pod.Spec.Containers[0]
		c.Image = image
		hashes, err := inplace.PlainHashes(&c)
		if err != nil {
			t.Fatal(err)
		}
		meta.Containers[0].Hashes.PlainHash = hashes[pick]
		report(t, pod, meta)
	}
}

// byOpenKruise takes out of the state what OpenKruise does not write.
func byOpenKruise(t *testing.T, pod *corev1.Pod) {
	s := state(t, pod)
	s.LastContainers = nil
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	pod.Annotations[v1alpha1.StateAnnotation] = string(data)
}

func waitingFor(_ *testing.T, pod *corev1.Pod) {
	pod.Status.ContainerStatuses[0].State.Waiting = &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}
}

// What a kubelet and a node agent may report of a container, and whether it
// runs its new image by that. c1 ran c1:1, with the image ID "id of c1:1", as
// the container containerd://c1:1.
func TestCompleteRestarted(t *testing.T) {
	type steps = []func(*testing.T, *corev1.Pod)
	const (
		digest  = "c1@sha256:77"
		was     = "containerd://c1:1"
		now     = "containerd://new"
		id      = "id of c1:1"
		other   = "id of c1:2"
		runsOld = "container c1: still runs image c1:1"
		notSeen = "container c1: the kubelet has not taken note of image "
	)
	for _, tt := range []struct {
		name string
		to   string
		// before is what is reported when the update begins; nil for a container that runs well.
		before, then steps
		want         string
	}{
		// The same image under another name.
		{"retagged, not yet restarted", "c1:2", nil, steps{reports("c1:1", id, was)}, runsOld},
		{"retagged, restarted, reported under its old name", "c1:2", nil, steps{reports("c1:1", id, now)}, ""},
		{"retagged, restarted, reported under a third name", "c1:2", nil, steps{reports("c1:latest", id, now)}, ""},
		{"retagged, restarted, reported under its new name", "c1:2", nil, steps{reports("c1:2", id, now)}, ""},
		{"retagged, the new container is being created", "c1:2", nil, steps{reports("c1:2", "", "")}, "container c1: has not been started"},
		{"retagged, the container waits for its next try", "c1:2", nil, steps{reports("c1:1", id, now), waitingFor}, runsOld},
		{
			"pinned to its digest, not yet restarted", digest, steps{reports("c1:1", "c1@sha256:77", was)},
			steps{reports("c1:1", "c1@sha256:77", was)}, runsOld,
		},
		{
			"pinned to its digest, restarted", digest, steps{reports("c1:1", "c1@sha256:77", was)},
			steps{reports("c1:1", "c1@sha256:77", now)}, "",
		},
		{"IP-E7: the same container under the new name", "c1:2", nil, steps{reports("c1:2", id, was)}, ""},

		// The generation that the kubelet reports on.
		{"retagged, restarted, the kubelet has seen the change", "c1:2", nil, steps{reports("c1:1", id, now), generations(2, 2)}, ""},
		{"crashed before the kubelet saw the change", "c1:2", nil, steps{reports("c1:1", id, now), generations(2, 1)}, notSeen + "c1:2"},
		{"the kubelet reports no generation", "c1:2", nil, steps{reports("c1:1", id, now), generations(2, 0)}, ""},
		{"the pod has no generation", "c1:2", nil, steps{reports("c1:1", id, now), generations(0, 1)}, ""},
		{"the old container, the kubelet has seen the change", "c1:2", nil, steps{generations(2, 2)}, runsOld},
		{"the same container under the new name, before the kubelet saw it", "c1:2", nil, steps{reports("c1:2", id, was), generations(2, 1)}, notSeen + "c1:2"},
		{"pulled anew by a crash before the kubelet saw the change", "c1:2", nil, steps{reports("c1:1", "newer", now), generations(2, 1)}, notSeen + "c1:2"},
		{"the new image by name, another change is not seen yet", "c1:2", nil, steps{reports("c1:2", other, now), generations(3, 2)}, ""},

		// The node agent.
		{"crashed with the old spec, by the hash", "c1:2", nil, steps{reports("c1:1", id, now), startedFrom("c1:1", 0)}, runsOld},
		{"crashed with the old spec, by the short hash", "c1:2", nil, steps{reports("c1:1", id, now), startedFrom("c1:1", 1)}, runsOld},
		{
			"crashed with the old spec, the kubelet has seen the change", "c1:2", nil,
			steps{reports("c1:1", id, now), startedFrom("c1:1", 0), generations(2, 2)}, runsOld,
		},
		{"pulled anew with the old spec, by the hash", "c1:2", nil, steps{reports("c1:1", "newer", now), startedFrom("c1:1", 0)}, runsOld},
		{"retagged, restarted, by the hash", "c1:2", nil, steps{reports("c1:1", id, now), startedFrom("c1:2", 0)}, ""},
		{"a hash that nobody knows", "c1:2", nil, steps{reports("c1:1", id, now), startedFrom("c1:7", 0)}, ""},
		{
			"the report is of the container before", "c1:2", nil,
			steps{startedFrom("c1:1", 0), reports("c1:1", id, now)}, "",
		},

		// Nothing was running when the update began.
		{"not started, the old image comes first", "c1:2", steps{reports("c1:1", "", "")}, steps{reports("c1:1", id, was)}, runsOld},
		{"not started, still not", "c1:2", steps{reports("c1:1", "", "")}, steps{reports("c1:2", "", "")}, "container c1: has not been started"},
		{"not started, the new image", "c1:2", steps{reports("c1:1", "", "")}, steps{reports("c1:2", other, now)}, ""},
		{"not started, an image under a third name", "c1:2", steps{reports("c1:1", "", "")}, steps{reports("sha256:88", other, now)}, ""},
		{
			"not started, an image under a third name before the kubelet saw the change", "c1:2", steps{reports("c1:1", "", "")},
			steps{reports("sha256:88", other, now), generations(2, 1)}, notSeen + "c1:2",
		},
		{"not started, a digest", digest, steps{reports("c1:1", "", "")}, steps{reports("c1:1", "c1@sha256:77", now)}, ""},
		{
			"not started, the new image under the old name, by the hash", "c1:2", steps{reports("c1:1", "", "")},
			steps{reports("c1:1", id, now), startedFrom("c1:2", 1)}, "",
		},
		{
			"no status at all, the old image comes first", "c1:2",
			steps{func(_ *testing.T, pod *corev1.Pod) { pod.Status.ContainerStatuses = nil }},
			steps{func(_ *testing.T, pod *corev1.Pod) {
				pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c1", Image: "c1:1", ImageID: id, ContainerID: was}}
			}}, runsOld,
		},
		{
			"no status at all, still none", "c1:2",
			steps{func(_ *testing.T, pod *corev1.Pod) { pod.Status.ContainerStatuses = nil }}, nil,
			"container c1: no status is reported",
		},
		{"a runtime without image IDs", "c1:2", steps{reports("c1:1", "", was)}, steps{reports("c1:2", "", now)}, ""},
		{"a runtime without image IDs, not yet restarted", "c1:2", steps{reports("c1:1", "", was)}, nil, runsOld},

		// A container that had crashed when the update began.
		{"crashed, still the old one", "c1:2", steps{waitingFor}, nil, runsOld},
		{"crashed, once more with the old image", "c1:2", steps{waitingFor}, steps{reports("c1:1", id, now)}, runsOld},
		{"crashed, then the new image", "c1:2", steps{waitingFor}, steps{reports("c1:2", other, now)}, ""},

		// States of OpenKruise.
		{"OpenKruise: a new image", "c1:2", nil, steps{byOpenKruise, reports("c1:2", other, now)}, ""},
		{"OpenKruise: a new image under a third name", "c1:2", nil, steps{byOpenKruise, reports("sha256:88", other, now)}, ""},
		{"OpenKruise: the same image under its new name", "c1:2", nil, steps{byOpenKruise, reports("c1:2", id, now)}, ""},
		{"OpenKruise: the same image under its old name", "c1:2", nil, steps{byOpenKruise, reports("c1:1", id, now)}, runsOld},
		{"OpenKruise: not started, the old image comes first", "c1:2", steps{reports("c1:1", "", "")}, steps{byOpenKruise, reports("c1:1", id, was)}, runsOld},
		{"OpenKruise: not started, then the new image", "c1:2", steps{reports("c1:1", "", "")}, steps{byOpenKruise, reports("c1:2", other, now)}, ""},
		{"OpenKruise: crashed before the kubelet saw the change", "c1:2", nil, steps{byOpenKruise, reports("c1:1", "newer", now), generations(2, 1)}, notSeen + "c1:2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pod := running(template())
			for _, step := range tt.before {
				step(t, pod)
			}
			pod = begin(t, pod, calculate(t, template(), template(image(0, tt.to))), 0)
			for _, step := range tt.then {
				step(t, pod)
			}
			completes(t, pod, tt.want)
		})
	}
}

// completes checks what Complete and Refresh wait for; nothing if it is empty.
func completes(t *testing.T, pod *corev1.Pod, want string) {
	t.Helper()
	complete, waiting, err := inplace.Complete(pod)
	if err != nil {
		t.Fatal(err)
	}
	if waiting != want || complete != (want == "") {
		t.Errorf("got %t, %q; want %q", complete, waiting, want)
	}
	if _, progress := refresh(t, pod, after(60)); progress.Complete != complete || progress.Waiting != waiting {
		t.Errorf("Refresh says %t, %q", progress.Complete, progress.Waiting)
	}
}

// A second update begins while the first has still to restart the container.
func TestCompleteSecondUpdate(t *testing.T) {
	const first, second = "containerd://first", "containerd://second"
	for _, tt := range []struct {
		name      string
		to, third string // The image of the second update, and of a third if there is one.
		then      []func(*testing.T, *corev1.Pod)
		want      string
	}{
		{"the container before both", "c1:3", "", nil, "container c1: still runs image c1:1"},
		{"the image of the first", "c1:3", "", []func(*testing.T, *corev1.Pod){reports("c1:2", "id of c1:2", first)}, "container c1: still runs image c1:2"},
		{
			"the image of the first, the kubelet has seen the second", "c1:3", "",
			[]func(*testing.T, *corev1.Pod){reports("c1:2", "id of c1:2", first), generations(3, 3)}, "container c1: still runs image c1:2",
		},
		{"the image of the second", "c1:3", "", []func(*testing.T, *corev1.Pod){reports("c1:3", "id of c1:3", second)}, ""},
		{"the image of the second under a third name", "c1:3", "", []func(*testing.T, *corev1.Pod){reports("sha256:88", "id of c1:3", second)}, ""},
		{
			"an image under a third name, by the hash of the first", "c1:3", "",
			[]func(*testing.T, *corev1.Pod){reports("sha256:88", "id of c1:2", first), startedFrom("c1:2", 0)}, "container c1: still runs image sha256:88",
		},
		{
			"the image of the second under the name of the first, by the hash", "c1:3", "",
			[]func(*testing.T, *corev1.Pod){reports("c1:2", "id of c1:2", second), startedFrom("c1:3", 0)}, "",
		},
		{
			"the third is a digest", "c1:3", "c1@sha256:77",
			[]func(*testing.T, *corev1.Pod){reports("c1:3", "id of c1:3", first)}, "container c1: still runs image c1:3",
		},
		{"IP-E16: back before the kubelet has acted", "c1:1", "", nil, ""},
		{
			"IP-E16: back, the kubelet works on the first", "c1:1", "",
			[]func(*testing.T, *corev1.Pod){generations(3, 2)}, "container c1: the kubelet has not taken note of image c1:1",
		},
		{"IP-E16: back, the image of the first", "c1:1", "", []func(*testing.T, *corev1.Pod){reports("c1:2", "id of c1:2", first)}, "container c1: still runs image c1:2"},
		{"IP-E16: back, restarted", "c1:1", "", []func(*testing.T, *corev1.Pod){reports("c1:1", "id of c1:1", second)}, ""},
		{"the image of the first of three", "c1:3", "c1:4", []func(*testing.T, *corev1.Pod){reports("c1:2", "id of c1:2", first)}, "container c1: still runs image c1:2"},
		{"the image of the second of three", "c1:3", "c1:4", []func(*testing.T, *corev1.Pod){reports("c1:3", "id of c1:3", first)}, "container c1: still runs image c1:3"},
		{"the image of the third", "c1:3", "c1:4", []func(*testing.T, *corev1.Pod){reports("c1:4", "id of c1:4", first)}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pod := running(template())
			from := template()
			for _, to := range []string{"c1:2", tt.to, tt.third} {
				if to == "" {
					continue
				}
				next := template(image(0, to))
				pod = begin(t, pod, calculate(t, from, next), 0)
				from = next
			}
			for _, step := range tt.then {
				step(t, pod)
			}
			completes(t, pod, tt.want)
		})
	}
}

// An update waits for a container. It still does when another update begins that does not change the container, or that waits for
// its grace period.
func TestSecondUpdateOfAnother(t *testing.T) {
	first, both := template(image(0, "c1:2")), template(image(0, "c1:2"), image(1, "c2:2"))
	for _, grace := range []int32{0, 30} {
		t.Run(fmt.Sprint("grace ", grace), func(t *testing.T) {
			pod := begin(t, running(template()), calculate(t, template(), first), 0)
			pod = begin(t, pod, calculate(t, first, both), grace)
			pod, _ = refresh(t, pod, after(40))
			pod.Status.ContainerStatuses[1].Image, pod.Status.ContainerStatuses[1].ImageID = "c2:2", "id of c2:2"
			completes(t, pod, "container c1: still runs image c1:1")
			reports("c1:1", "id of c1:1", "containerd://new")(t, pod)
			completes(t, pod, "")
		})
	}
}

// The image goes back before the kubelet has acted, as far as is known. A third update still recognises the image that the
// kubelet may have started by then.
func TestRollbackIsRemembered(t *testing.T) {
	pod, from := running(template()), template()
	for _, to := range []string{"c1:2", "c1:1", "c1:3"} {
		next := template(image(0, to))
		pod = begin(t, pod, calculate(t, from, next), 0)
		from = next
	}
	reports("c1:2", "id of c1:2", "containerd://late")(t, pod)
	completes(t, pod, "container c1: still runs image c1:2")
}

// The name of the new image may be that of an image before, by the hash.
func TestHashBeforeName(t *testing.T) {
	pod, from := running(template()), template()
	for _, to := range []string{"c1:2", "c1:3"} {
		next := template(image(0, to))
		pod = begin(t, pod, calculate(t, from, next), 0)
		from = next
	}
	reports("c1:3", "id of c1:2", "containerd://first")(t, pod)
	startedFrom("c1:2", 1)(t, pod)
	completes(t, pod, "container c1: still runs image c1:3")
}

// A pod that is updated again once it is complete begins anew.
func TestThirdNameIsForgotten(t *testing.T) {
	pod, from := running(template()), template()
	for _, to := range []string{"c1:2", "c1:3"} {
		next := template(image(0, to))
		pod = begin(t, pod, calculate(t, from, next), 0)
		kubelet(pod)
		pod, _ = refresh(t, pod, after(60))
		from = next
	}
	want := v1alpha1.LastContainer{ContainerID: "containerd://c1:2", Images: []string{"c1:2"}, Image: "c1:3"}
	if got := state(t, pod).LastContainers["c1"]; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// The containers that are recorded must be those that run when the update is written.
func TestBeginWithoutStatusIsConditional(t *testing.T) {
	pod := running(template(), func(pod *corev1.Pod) { pod.Status.ContainerStatuses = nil })
	var p podpatch.Patch
	if err := inplace.Begin(&p, pod, calculate(t, template(), template(image(0, "c1:2"))), inplace.BeginOptions{Now: start()}); err != nil {
		t.Fatal(err)
	}
	if !p.IfUnchanged {
		t.Error("the update is written whatever has been started since")
	}
}

// SPDX-License-Identifier: Apache-2.0

package inplace_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/v1alpha1"
)

// small and large are templates that differ in the cpu of c1 and c2.
func small(changes ...change) *corev1.PodTemplateSpec {
	return template(append([]change{requests(0, "cpu", "1"), requests(1, "cpu", "1")}, changes...)...)
}

func large(changes ...change) *corev1.PodTemplateSpec {
	return small(append([]change{requests(0, "cpu", "2"), requests(1, "cpu", "2")}, changes...)...)
}

func calculateResize(t testing.TB, from, to *corev1.PodTemplateSpec) *inplace.Update {
	t.Helper()
	u, obstacles, err := inplace.Calculate(rev(t, "demo-old", from), rev(t, "demo-new", to), inplace.CalculateOptions{Resize: true})
	if err != nil || u == nil {
		t.Fatal(err, obstacles)
	}
	return u
}

// sized is a running pod whose node reports what its containers have.
func sized(t *corev1.PodTemplateSpec, changes ...func(*corev1.Pod)) *corev1.Pod {
	return running(t, append([]func(*corev1.Pod){resizes}, changes...)...)
}

// resizes has the node do what the spec says.
func resizes(pod *corev1.Pod) {
	pod.Status.ObservedGeneration = pod.Generation
	for i := range pod.Spec.Containers {
		pod.Status.ContainerStatuses[i].Resources = pod.Spec.Containers[i].Resources.DeepCopy()
	}
	without := pod.Status.Conditions[:0]
	for _, c := range pod.Status.Conditions {
		if c.Type != corev1.PodResizePending && c.Type != corev1.PodResizeInProgress {
			without = append(without, c)
		}
	}
	pod.Status.Conditions = without
}

// pending has the node say something about a resize instead.
func pending(of corev1.PodConditionType, reason, message string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Status.ObservedGeneration = pod.Generation
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
			Type: of, Status: corev1.ConditionTrue, Reason: reason, Message: message, ObservedGeneration: pod.Generation})
	}
}

// cpu lists the requests of the containers.
func cpu(pod *corev1.Pod) string {
	var out []string
	for _, c := range pod.Spec.Containers {
		out = append(out, c.Resources.Requests.Cpu().String())
	}
	return strings.Join(out, " ")
}

func TestResizeWrites(t *testing.T) {
	twoPriorities := func(pod *corev1.Pod) { priority(0, "2")(pod); priority(1, "1")(pod) }
	for _, tt := range []struct {
		name     string
		from, to *corev1.PodTemplateSpec
		pod      func(*corev1.Pod)
		grace    int32
		want     []string
		serves   bool
	}{
		{"IP-36: without a restart the pod stays in service", small(), large(), nil, 0, []string{"", "resize"}, true},
		{"IP-36: with metadata too", small(), large(label("z", "1")), nil, 0, []string{"", "resize"}, true},
		{"IP-36: there is no grace period without a restart", small(), large(), nil, 60, []string{"", "resize"}, true},
		{"IP-36: all containers at once, whatever their priority", small(), large(), twoPriorities, 0, []string{"", "resize"}, true},
		{"IP-36: with a restart it leaves service, and labels go along", small(restartFor(1, "cpu")), large(restartFor(1, "cpu")), nil, 0, []string{"status", "resize"}, false},
		{"IP-36: with an image", small(), large(image(2, "c3:2")), nil, 0, []string{"status", "", "resize"}, false},
		{"IP-36: after a grace period", small(), large(image(2, "c3:2")), nil, 60, []string{"status"}, false},
		{"IP-36: without the gate", small(restartFor(1, "cpu")), large(restartFor(1, "cpu")), noGate, 0, []string{"", "resize"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pod, u := sized(tt.from), calculateResize(t, tt.from, tt.to)
			if tt.pod != nil {
				tt.pod(pod)
			}
			if got := inplace.KeepsServing(pod, u); got != tt.serves {
				t.Errorf("keeps serving: %t, want %t", got, tt.serves)
			}
			var p podpatch.Patch
			if err := inplace.Begin(&p, pod, u, inplace.BeginOptions{Now: start(), GracePeriodSeconds: tt.grace}); err != nil {
				t.Fatal(err)
			}
			p.SetLabel(appsv1.ControllerRevisionHashLabelKey, u.Revision)
			writes, err := p.Writes(pod)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, w := range writes {
				got = append(got, w.Subresource)
				if w.Subresource == podpatch.Resize && !w.Chained {
					t.Errorf("IP-36: the resize is sent whatever has become of the pod: %s", w.Data)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestResizeProgress(t *testing.T) {
	older := func(pod *corev1.Pod) { pod.Status.Conditions[len(pod.Status.Conditions)-1].ObservedGeneration = 1 }
	unobserved := func(pod *corev1.Pod) { resizes(pod); pod.Status.ObservedGeneration = 1 }
	restart := []change{restartFor(0, "cpu")}
	for _, tt := range []struct {
		name    string
		changes []change
		kubelet func(*corev1.Pod)
		want    string // how far it is, whether it is in service, and what it waits for
		gate    string
	}{
		{"IP-38: done", nil, resizes, "complete", "True"},
		{"IP-38: done, with a restart", restart, resizes, "complete", "True"},
		{"IP-38: the kubelet has not seen it", nil, unobserved, "Requested, in service: the kubelet has not taken note of the new resources", "True"},
		{"IP-38: a restart is awaited out of service", restart, unobserved, "Requested: the kubelet has not taken note of the new resources", started},
		{"IP-38: a kubelet that reports no generations", nil, func(pod *corev1.Pod) { pod.Status.ObservedGeneration = 0 },
			"Requested, in service: container c1: does not have its new resources yet", "True"},
		{"IP-38: deferred", nil, pending(corev1.PodResizePending, "Deferred", "no cpu"),
			"Deferred, in service: the node gives the pod its new resources as soon as it has room for them: no cpu", "True"},
		{"IP-38: deferred, the restart comes whenever there is room", restart, pending(corev1.PodResizePending, "Deferred", "no cpu"),
			"Deferred, in service: the node gives the pod its new resources as soon as it has room for them: no cpu", "True"},
		{"IP-38: infeasible", restart, pending(corev1.PodResizePending, "Infeasible", "too much"),
			"Infeasible, in service: the node cannot give the pod its new resources: too much", "True"},
		{"IP-38: what was said of an older spec", nil, func(pod *corev1.Pod) { pending(corev1.PodResizePending, "Infeasible", "x")(pod); older(pod) },
			"Requested, in service: the kubelet has not taken note of the new resources", "True"},
		{"IP-38: another reason", nil, pending(corev1.PodResizePending, "Other", ""), "Requested, in service: the kubelet decides about the new resources: reason Other", "True"},
		{"IP-38: in progress", restart, pending(corev1.PodResizeInProgress, "", ""), "Requested: the node gives the pod its new resources", started},
		{"IP-38: in progress, and it fails", restart, pending(corev1.PodResizeInProgress, "Error", "busy"),
			"Failing, in service: the node fails to give the pod its new resources, and goes on trying: busy", "True"},
		{"IP-38: a container that does not run", nil, func(pod *corev1.Pod) {
			resizes(pod)
			pod.Status.ContainerStatuses[0].Resources, pod.Status.ContainerStatuses[0].Ready = nil, false
		}, "complete", "True"},
		{"IP-38: another container is of no interest", nil, func(pod *corev1.Pod) {
			resizes(pod)
			pod.Status.ContainerStatuses[2].Resources.Requests = quantities("cpu", "9")
		}, "complete", "True"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pod := begin(t, sized(small(tt.changes...), func(pod *corev1.Pod) { pod.Generation = 1 }), calculateResize(t, small(tt.changes...), large(tt.changes...)), 0)
			pod.Generation, pod.Status.ObservedGeneration = 2, 2
			tt.kubelet(pod)
			next, progress := refresh(t, pod, after(10))
			got := string(progress.Resizing)
			if progress.InService {
				got += ", in service"
			}
			if got += ": " + progress.Waiting; progress.Complete {
				got = "complete" + progress.Waiting
			}
			if diff := cmp.Diff([]string{tt.want, tt.gate}, []string{got, condition(next, v1alpha1.InPlaceUpdateReady)}); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			var look time.Duration // until the request stands, unless the node says something before
			if progress.Resizing == inplace.ResizeRequested {
				look = 50 * time.Second
			}
			if progress.RequeueAfter != look {
				t.Errorf("IP-38: looks again after %s, want %s", progress.RequeueAfter, look)
			}
			if complete, waiting, err := inplace.Complete(pod); complete != progress.Complete || waiting != progress.Waiting || err != nil {
				t.Errorf("Complete says %t, %q, %v", complete, waiting, err)
			}
			if consistent, waiting, err := inplace.Consistent(pod); !consistent {
				t.Errorf("IP-38: the containers run what they should, and not: %s, %v", waiting, err)
			}
			if waiting, _ := inplace.Underway(next); (waiting == "") != (tt.gate == "True") {
				t.Errorf("IP-38: SidecarSets wait for %q", waiting)
			}
			if left := state(t, next).NextContainerResources; (left == nil) != progress.Complete || inplace.BeingResized(next) == progress.Complete {
				t.Errorf("IP-38: %v is left, complete %t", left, progress.Complete)
			}
			if progress.Complete {
				var p podpatch.Patch
				if again, err := inplace.Refresh(&p, next, after(11)); err != nil || !again.Complete || !p.Empty() {
					t.Errorf("the next reconcile writes %v, error %v", p, err)
				}
			}
		})
	}
}

// IP-38: a manager that ends between the writes leaves what the next one goes on with.
func TestResizeIsRequestedAgain(t *testing.T) {
	pod, u := sized(small()), calculateResize(t, small(), large())
	var p podpatch.Patch
	if err := inplace.Begin(&p, pod, u, inplace.BeginOptions{Now: start()}); err != nil {
		t.Fatal(err)
	}
	p.SetLabel(appsv1.ControllerRevisionHashLabelKey, u.Revision)
	p.Resources = nil // it ends here
	pod = apply(t, pod, p)
	var again podpatch.Patch
	progress, err := inplace.Refresh(&again, pod, after(1))
	if err != nil || !progress.InService || progress.Waiting != "container c1: its resources are still to be requested" {
		t.Fatalf("%+v, %v", progress, err)
	}
	writes, err := again.Writes(pod)
	if err != nil || len(writes) != 1 || writes[0].Subresource != podpatch.Resize || !strings.Contains(string(writes[0].Data), `"resourceVersion":"7"`) {
		t.Fatalf("writes %+v, %v", writes, err)
	}
	if got := cpu(apply(t, pod, again)); got != "2 2 0" {
		t.Errorf("cpu %s", got)
	}
	pod.Labels[appsv1.ControllerRevisionHashLabelKey] = "demo-other" // another manager goes on with it
	var none podpatch.Patch
	if progress, err := inplace.Refresh(&none, pod, after(1)); err != nil || len(none.Resources) > 0 || !progress.Complete {
		t.Errorf("of another revision: %+v, %v, %v", progress, none, err)
	}
}

// IP-38: what the API server has stored in the place of what was requested is what the pod gets, in this update and the next.
func TestResizeIsAcceptedAsStored(t *testing.T) {
	pod := begin(t, sized(small()), calculateResize(t, small(), large()), 0)
	var none podpatch.Patch
	if err := inplace.Resized(&none, pod); err != nil || !none.Empty() {
		t.Errorf("what was requested came back, and is recorded: %v, %v", none, err)
	}
	pod.Spec.Containers[0].Resources.Requests = quantities("cpu", "1500m")
	var p podpatch.Patch
	if err := inplace.Resized(&p, pod); err != nil || !p.IfUnchanged {
		t.Fatalf("patch %v, error %v", p, err)
	}
	noted := apply(t, pod, p)
	if _, progress := refresh(t, noted, after(1)); progress.Resizing != inplace.ResizeRequested || !progress.InService {
		t.Errorf("before the kubelet gives it: %+v", progress)
	}
	u := calculateResize(t, large(), large(image(2, "c3:2")))
	u.Revision = "demo-next"
	next := begin(t, noted.DeepCopy(), u, 0)
	if got := state(t, next).NextContainerResources["c1"].Requests; cpu(next) != "1500m 2 0" || got.Cpu().String() != "1500m" {
		t.Errorf("the next update: cpu %s, recorded %v", cpu(next), got)
	}
	resizes(noted)
	done, progress := refresh(t, noted, after(2))
	if left := state(t, done); !progress.Complete || left.ResizeAccepted || left.NextContainerResources != nil || cpu(done) != "1500m 2 0" {
		t.Errorf("cpu %s, progress %+v, state %+v", cpu(done), progress, left)
	}
}

// IP-28: what an update has not seen given is inherited, as far as the next one leaves it.
func TestResizeIsInherited(t *testing.T) {
	deferred := begin(t, sized(small()), calculateResize(t, small(), large()), 0)
	next := func(to *corev1.PodTemplateSpec) *inplace.Update {
		u := calculateResize(t, large(), to)
		u.Revision = "demo-next"
		return u
	}
	for _, tt := range []struct {
		name string
		to   *corev1.PodTemplateSpec
		want string
	}{
		{"an image", large(image(2, "c3:2")), "2 2 0"},
		{"the cpu of one", large(requests(0, "cpu", "3")), "3 2 0"},
		{"back again", small(), "1 1 0"},
	} {
		pod := begin(t, deferred.DeepCopy(), next(tt.to), 0)
		var left []string
		for _, name := range []string{"c1", "c2", "c3"} {
			r := state(t, pod).NextContainerResources[name].Requests
			left = append(left, r.Cpu().String())
		}
		if got := strings.Join(left, " "); got != tt.want || cpu(pod) != tt.want {
			t.Errorf("%s: cpu %s, recorded %s, want %s", tt.name, cpu(pod), got, tt.want)
		}
	}
}

// IP-37: what stands against a resize of this pod alone.
func TestUnresizablePods(t *testing.T) {
	u := calculateResize(t, small(), large())
	for _, tt := range []struct {
		name string
		pod  *corev1.Pod
		want string
	}{
		{"its node resizes", sized(small()), ""},
		{"its node does not report resources", running(small()), `its node does not report the resources of container "c1", so it cannot change them`},
		{"no container runs yet, so nobody knows", running(small(), func(pod *corev1.Pod) {
			for i := range pod.Status.ContainerStatuses {
				pod.Status.ContainerStatuses[i].Ready = false
			}
		}), ""},
		{"a webhook has set limits, so that it is Guaranteed", sized(small(), func(pod *corev1.Pod) {
			for i := range pod.Spec.Containers {
				pod.Spec.Containers[i].Resources.Limits = quantities("cpu", "1", "memory", "1Gi")
				pod.Spec.Containers[i].Resources.Requests = quantities("cpu", "1", "memory", "1Gi")
			}
		}), "the QoS class of the pod would change from Guaranteed to Burstable"},
		{"a container is missing", sized(small(), func(pod *corev1.Pod) { pod.Spec.Containers[1].Name = "other" }), `container "c2", which the pod does not have`},
	} {
		err := inplace.Feasible(tt.pod, u)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
		var p podpatch.Patch
		if begun := inplace.Begin(&p, tt.pod, u, inplace.BeginOptions{Now: start()}); (begun == nil) != (err == nil) || begun != nil && !p.Empty() {
			t.Errorf("%s: Begin says %v, and writes %v", tt.name, begun, p)
		}
	}
}

func TestUnresized(t *testing.T) {
	refused := errors.New("not served")
	requested := begin(t, sized(small()), calculateResize(t, small(), large()), 0)
	unsent := requested.DeepCopy()
	unsent.Spec = *sized(small()).Spec.DeepCopy()
	with := func(pod *corev1.Pod, change func(*corev1.Pod)) *corev1.Pod {
		pod = pod.DeepCopy()
		change(pod)
		return pod
	}
	infeasible := pending(corev1.PodResizePending, "Infeasible", "too much")
	for _, tt := range []struct {
		name    string
		pod     *corev1.Pod
		refused error
		want    string
	}{
		{"IP-39: infeasible", with(requested, infeasible), nil, "the node cannot give the pod its new resources: too much"},
		{"IP-39: deferred", with(requested, pending(corev1.PodResizePending, "Deferred", "")), nil, ""},
		{"IP-39: refused", unsent, refused, "not served"},
		{"IP-39: refused before, and requested since", requested, refused, ""},
		{"IP-39: never updated", sized(small()), refused, ""},
		{"IP-39: infeasible, by somebody else's request", sized(small(), infeasible), nil, ""},
		{"IP-39: the spec was changed back since", with(unsent, infeasible), nil, ""},
		{"IP-39: a state that cannot be read", with(requested, func(pod *corev1.Pod) { infeasible(pod); pod.Annotations[v1alpha1.StateAnnotation] = "{" }), nil, ""},
	} {
		if got := inplace.Unresized(tt.pod, tt.refused); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// IP-36: a resize that comes with an image waits for the grace period with it, and readers of
// OpenKruise find what they know.
func TestResizeAfterGrace(t *testing.T) {
	pod := begin(t, sized(small()), calculateResize(t, small(), large(image(2, "c3:2"))), 30)
	if cpu(pod) != "1 1 0" || images(pod) != "c1:1 c2:1 c3:1" {
		t.Fatalf("changed at once: %s, %s", cpu(pod), images(pod))
	}
	pod, _ = refresh(t, pod, after(31))
	if cpu(pod) != "2 2 0" || images(pod) != "c1:1 c2:1 c3:2" || inplace.InGrace(pod) {
		t.Errorf("after the period: %s, %s", cpu(pod), images(pod))
	}
	if _, progress := refresh(t, pod, after(32)); progress.Complete || progress.InService {
		t.Errorf("before the container has restarted: %+v", progress)
	}
	kubelet(pod)
	next, progress := refresh(t, pod, after(40))
	if !progress.InService || condition(next, v1alpha1.InPlaceUpdateReady) != "True" {
		t.Errorf("with the image and without the cpu: %+v, %s", progress, condition(next, v1alpha1.InPlaceUpdateReady))
	}
	resizes(next)
	if _, progress = refresh(t, next, after(50)); !progress.Complete {
		t.Errorf("in the end: %+v", progress)
	}
}

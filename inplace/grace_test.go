// SPDX-License-Identifier: Apache-2.0

package inplace_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/lifecycle/readiness"
)

// serve puts a pod into service, as a manager does that knows no better.
func serve(pod *corev1.Pod) *corev1.Pod {
	for _, c := range []corev1.PodConditionType{v1alpha1.InPlaceUpdateReady, corev1.PodReady} {
		c := readiness.Condition(pod, c)
		c.Status, c.Reason, c.Message = corev1.ConditionTrue, "", ""
	}
	return pod
}

// secondInGrace returns a pod whose update to demo-mid has not been finished when
// that to demo-new began, with a grace period of 30 s.
func secondInGrace(t *testing.T, priorities ...func(*corev1.Pod)) *corev1.Pod {
	mid := template(image(0, "c1:2"), image(1, "c2:2"))
	first := calculate(t, template(), mid)
	first.Revision = "demo-mid"
	return begin(t, begin(t, running(template(), priorities...), first, 0), calculate(t, mid, template(image(0, "c1:3"), image(1, "c2:2"))), 30)
}

// A pod that is in service during its grace period goes back to the revision before,
// with the containers of that. (IP-34)
func TestRefreshGoesBack(t *testing.T) {
	first := func() *corev1.Pod {
		return serve(begin(t, running(template()), calculate(t, template(), template(image(0, "c1:2"))), 30))
	}
	for _, tt := range []struct {
		name   string
		pod    *corev1.Pod
		goBack string
		images string
	}{
		{"its first update", first(), "demo-old", "c1:1 c2:1 c3:1"},
		{"whatever the condition says besides", func() *corev1.Pod {
			pod := first()
			readiness.Condition(pod, v1alpha1.InPlaceUpdateReady).Reason = "Strange"
			return pod
		}(), "demo-old", "c1:1 c2:1 c3:1"},
		{"an earlier update had not been finished", serve(secondInGrace(t)), "demo-mid", "c1:2 c2:2 c3:1"},
		{"the record of an earlier update was that of another revision", func() *corev1.Pod {
			pod := begin(t, running(template(), priority(0, "10"), priority(1, "0")), calculate(t, template(), template(image(0, "c1:2"), image(1, "c2:2"))), 0)
			pod.Labels["controller-revision-hash"] = "demo-other"
			return serve(begin(t, pod, calculate(t, template(), template(image(0, "c1:3"))), 30))
		}(), "demo-other", "c1:2 c2:1 c3:1"},
	} {
		for _, now := range []time.Time{after(1), after(35)} {
			t.Run(tt.name+" "+now.Sub(start()).String(), func(t *testing.T) {
				var p podpatch.Patch
				progress, err := inplace.Refresh(&p, tt.pod, now)
				if err != nil || progress.Complete || progress.GoBack != tt.goBack || !p.IfUnchanged {
					t.Errorf("got %+v, %v, only if unchanged: %t", progress, err, p.IfUnchanged)
				}
				got := apply(t, tt.pod, p)
				if images(got) != tt.images || inplace.InGrace(got) || condition(got, corev1.PodReady) != "True" {
					t.Errorf("images %s, in grace %t, Ready %s", images(got), inplace.InGrace(got), condition(got, corev1.PodReady))
				}
			})
		}
	}
}

// A pod cannot go back if nothing says whereto, or if containers of the update before have still to get their images. Then it is
// taken out of service again, and has all of its grace period before anything changes. (IP-34)
func TestRefreshBeginsTheGracePeriodAnew(t *testing.T) {
	for _, tt := range []struct {
		name   string
		pod    func(*testing.T) *corev1.Pod
		before string // the images until the period is over
		then   string
	}{
		{"containers wait for a later batch", func(t *testing.T) *corev1.Pod {
			return secondInGrace(t, priority(0, "10"), priority(1, "0"))
		}, "c1:2 c2:1 c3:1", "c1:3 c2:1 c3:1"},
		{"a record of OpenKruise", func(t *testing.T) *corev1.Pod {
			pod := begin(t, running(template()), calculate(t, template(), template(image(0, "c1:2"))), 30)
			pod.Annotations[v1alpha1.GraceAnnotation] = `{"revision":"demo-new","containerImages":{"c1":"c1:2"},"graceSeconds":30}`
			return pod
		}, "c1:1 c2:1 c3:1", "c1:2 c2:1 c3:1"},
	} {
		for _, now := range []int{1, 35} {
			t.Run(tt.name+" "+after(now).Sub(start()).String(), func(t *testing.T) {
				pod := serve(tt.pod(t))
				was, record := state(t, pod), pod.Annotations[v1alpha1.GraceAnnotation]
				var p podpatch.Patch
				progress, err := inplace.Refresh(&p, pod, after(now))
				if err != nil || progress.Complete || progress.GoBack != "" || progress.RequeueAfter != 30*time.Second || progress.Waiting == "" {
					t.Errorf("got %+v, %v", progress, err)
				}
				if writes, err := p.Writes(pod); err != nil || len(writes) != 1 || !p.IfUnchanged {
					t.Errorf("want one write that holds for the pod as it was read only, got %v, %v, %t", writes, err, p.IfUnchanged)
				}
				pod = apply(t, pod, p)
				if images(pod) != tt.before || condition(pod, v1alpha1.InPlaceUpdateReady) != started || readiness.Ready(pod) {
					t.Errorf("images %s, InPlaceUpdateReady %s, Ready %s", images(pod), condition(pod, v1alpha1.InPlaceUpdateReady), condition(pod, corev1.PodReady))
				}
				was.UpdateTimestamp.Time = after(now).Local()
				if diff := cmp.Diff(was, state(t, pod)); diff != "" || pod.Annotations[v1alpha1.GraceAnnotation] != record {
					t.Errorf("the records became others: %s, -want +got:\n%s", pod.Annotations[v1alpha1.GraceAnnotation], diff)
				}

				var again podpatch.Patch
				progress, err = inplace.Refresh(&again, pod, after(now+29))
				if err != nil || progress.RequeueAfter != time.Second || again.Changes(pod) {
					t.Errorf("a second before its end: %+v, %v, %v", progress, again, err)
				}
				if pod, _ = refresh(t, pod, after(now+30)); images(pod) != tt.then || inplace.InGrace(pod) {
					t.Errorf("at its end: images %s, in grace %t", images(pod), inplace.InGrace(pod))
				}
			})
		}
	}
}

// Without the gate it is not known whether a pod is in service. (IP-34, IP-E15)
func TestRefreshGraceWithoutTheGate(t *testing.T) {
	pod := begin(t, running(template(), noGate), calculate(t, template(), template(image(0, "c1:2"))), 30)
	if pod, progress := refresh(t, pod, after(1)); progress.RequeueAfter != 29*time.Second || images(pod) != "c1:1 c2:1 c3:1" {
		t.Errorf("got %+v, %s", progress, images(pod))
	}
	if pod, _ = refresh(t, pod, after(30)); images(pod) != "c1:2 c2:1 c3:1" {
		t.Errorf("images %s", images(pod))
	}
}

// IP-20: a controller whose clock is an hour behind that of the one before waits for a grace period, and not for an hour.
func TestGraceOfAnotherClock(t *testing.T) {
	pod := begin(t, running(template()), calculate(t, template(), template(image(0, "c1:2"))), 30)
	pod, progress := refresh(t, pod, start().Add(-time.Hour))
	if progress.RequeueAfter != 30*time.Second || images(pod) != "c1:1 c2:1 c3:1" {
		t.Errorf("an hour behind: %+v, images %s", progress, images(pod))
	}
	pod, progress = refresh(t, pod, start().Add(-time.Hour+10*time.Second))
	if progress.RequeueAfter != 20*time.Second {
		t.Errorf("the period begins more than once: %+v", progress)
	}
	if pod, progress = refresh(t, pod, start().Add(-time.Hour+30*time.Second)); inplace.InGrace(pod) || images(pod) != "c1:2 c2:1 c3:1" {
		t.Errorf("after the period: %+v, images %s", progress, images(pod))
	}
}

// IP-13: what is recorded of a pod whose images are never pulled does not grow with its updates.
func TestRecordedImagesAreLimited(t *testing.T) {
	pod, most := running(template()), 0
	for i := range 100 {
		u := calculate(t, template(), template(image(0, "c1:build-"+strconv.Itoa(i))))
		u.Revision = "demo-" + strconv.Itoa(i)
		pod = begin(t, pod, u, 0)
		recorded := state(t, pod).LastContainers["c1"].Images
		if most = max(most, len(recorded)); recorded[0] != "c1:1" {
			t.Fatalf("the container runs c1:1, recorded are %v", recorded)
		}
	}
	if most != 10 {
		t.Errorf("up to %d images are recorded, want 10", most)
	}
}

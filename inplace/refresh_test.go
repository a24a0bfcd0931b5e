// SPDX-License-Identifier: Apache-2.0

package inplace_test

import (
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

func TestRefreshConditions(t *testing.T) {
	u := calculate(t, template(), template(image(0, "c1:2")))
	done := begin(t, running(template()), u, 0)
	kubelet(done)
	for _, tt := range []struct {
		name     string
		pod      *corev1.Pod
		complete bool
		want     string
		ready    string
	}{
		{"IP-26: complete", done, true, "True", "False ReadinessGatesNotReady"},
		{"IP-26: not complete", begin(t, running(template()), u, 0), false, started, "False ReadinessGatesNotReady"},
		{
			"IP-26: a new pod without the condition",
			running(template(), func(pod *corev1.Pod) { pod.Status.Conditions = pod.Status.Conditions[:2] }), true, "True", "True",
		},
		{
			"IP-26: another reason is cleared",
			running(template(), func(pod *corev1.Pod) { pod.Status.Conditions[2].Reason = "Strange" }), true, "True", "True",
		},
		{"IP-26: what stands is not written", running(template()), true, "True", "True"},
		{"IP-E15: no gate, no condition", running(template(), noGate), true, "none", "True"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, progress := refresh(t, tt.pod, after(60))
			if progress.Complete != tt.complete || (progress.Waiting == "") != tt.complete {
				t.Errorf("complete: got %t (%q), want %t", progress.Complete, progress.Waiting, tt.complete)
			}
			if c := condition(got, v1alpha1.InPlaceUpdateReady); c != tt.want {
				t.Errorf("InPlaceUpdateReady: got %s, want %s", c, tt.want)
			}
			if c := condition(got, corev1.PodReady); !strings.HasPrefix(c, tt.ready) {
				t.Errorf("IP-26: Ready is the kubelet's: got %s, want %s", c, tt.ready)
			}
			var again podpatch.Patch
			if _, err := inplace.Refresh(&again, got, after(61)); err != nil || tt.complete && len(again.Conditions) > 0 {
				t.Errorf("the next reconcile writes again: %v, %v", again, err)
			}
		})
	}
	got, _ := refresh(t, done, after(60))
	if _, found := got.Annotations[v1alpha1.StateAnnotation]; !found {
		t.Error("IP-27: the state is gone")
	}
	if since := since(got, v1alpha1.InPlaceUpdateReady); !since.Equal(after(60)) {
		t.Errorf("IP-26: True since %s", since)
	}
}

// EJ-25: ephemeral containers are left alone by an update, and do not hold it up, however they are.
func TestEphemeralContainersAreLeftAlone(t *testing.T) {
	u := calculate(t, template(), template(image(0, "c1:2")))
	pod := running(template(), func(pod *corev1.Pod) {
		pod.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "debug", Image: "c1:1"}}}
		pod.Status.EphemeralContainerStatuses = []corev1.ContainerStatus{{Name: "debug", Image: "c1:1", ImageID: "old",
			State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1}}}}
	})
	before := pod.DeepCopy()
	var p podpatch.Patch
	if err := inplace.Begin(&p, pod, u, inplace.BeginOptions{Now: start()}); err != nil {
		t.Fatal(err)
	}
	writes, err := p.Writes(pod)
	if err != nil || len(writes) != 2 {
		t.Fatalf("%d writes, %v", len(writes), err)
	}
	for _, w := range writes {
		if strings.Contains(string(w.Data), "phemeral") {
			t.Errorf("it writes %s", w.Data)
		}
	}
	pod = begin(t, pod, u, 0)
	kubelet(pod)
	got, progress := refresh(t, pod, after(60))
	if !progress.Complete {
		t.Errorf("it waits: %s", progress.Waiting)
	}
	if diff := cmp.Diff(before.Spec.EphemeralContainers, got.Spec.EphemeralContainers); diff != "" {
		t.Errorf("ephemeral containers (-before +after):\n%s", diff)
	}
}

func TestRefreshBatches(t *testing.T) {
	to := template(image(0, "c1:2"), image(1, "c2:2"))
	pod := begin(t, running(template(), priority(0, "10"), priority(1, "0")), calculate(t, template(), to), 0)

	pod, progress := refresh(t, pod, after(10))
	if images(pod) != "c1:2 c2:1 c3:1" || progress.Waiting != "container c1: still runs image c1:1" {
		t.Errorf("IP-18: the batch is not complete: %s, %s", images(pod), progress.Waiting)
	}
	kubelet(pod)
	pod.Status.ContainerStatuses[0].Ready = false
	pod, progress = refresh(t, pod, after(20))
	if images(pod) != "c1:2 c2:1 c3:1" || progress.Waiting != "c2: waits for container c1 to be ready" {
		t.Errorf("IP-18: the batch is not ready: %s, %s", images(pod), progress.Waiting)
	}
	if condition(pod, v1alpha1.InPlaceUpdateReady) != started {
		t.Errorf("IP-18: the condition became %s", condition(pod, v1alpha1.InPlaceUpdateReady))
	}
	pod.Status.ContainerStatuses[0].Ready = true
	pod.Status.ContainerStatuses[2].Ready = false
	var next podpatch.Patch
	if progress, err := inplace.Refresh(&next, pod, after(30)); err != nil || progress.Complete || !next.IfUnchanged {
		t.Errorf("IP-18: the next batch is written only to the pod as it was read: %v, %v, %v", progress, next, err)
	}
	pod = apply(t, pod, next)
	if images(pod) != "c1:2 c2:2 c3:1" {
		t.Errorf("IP-18: the next batch, IP-E10: whatever the others do: %s", images(pod))
	}
	want := `{"revision":"demo-new","updateTimestamp":"2024-05-06T07:08:09Z",` +
		`"lastContainerStatuses":{"c1":{"imageID":"id of c1:1"},"c2":{"imageID":"id of c2:1"}},` +
		`"containerBatchesRecord":[{"timestamp":"2024-05-06T07:08:09Z","containers":["c1"]},{"timestamp":"2024-05-06T07:08:39Z","containers":["c2"]}],` +
		`"lastContainers":{"c1":{"containerID":"containerd://c1:1","images":["c1:1"],"image":"c1:2"},"c2":{"containerID":"containerd://c2:1","images":["c2:1"],"image":"c2:2"}}}`
	if diff := cmp.Diff(want, pod.Annotations[v1alpha1.StateAnnotation]); diff != "" {
		t.Errorf("IP-17, IP-18: -want +got:\n%s", diff)
	}
	if condition(pod, v1alpha1.InPlaceUpdateReady) != started {
		t.Errorf("IP-18: the condition became %s", condition(pod, v1alpha1.InPlaceUpdateReady))
	}
	kubelet(pod)
	pod, progress = refresh(t, pod, after(40))
	if !progress.Complete || condition(pod, v1alpha1.InPlaceUpdateReady) != "True" {
		t.Errorf("IP-26: complete %t, condition %s", progress.Complete, condition(pod, v1alpha1.InPlaceUpdateReady))
	}
}

func TestRefreshWaitingContainers(t *testing.T) {
	const waits = `{"revision":"demo-new","updateTimestamp":"2024-05-06T07:08:09Z","lastContainerStatuses":null,`
	with := func(rest string) *corev1.Pod {
		return running(template(), func(pod *corev1.Pod) { pod.Annotations[v1alpha1.StateAnnotation] = waits + rest })
	}
	for _, tt := range []struct {
		name, rest, images string
		complete           bool
	}{
		{"IP-18: no check beforehand", `"nextContainerImages":{"c2":"c2:2"}}`, "c1:1 c2:2 c3:1", false},
		{"IP-18: a container without status is not ready", `"nextContainerImages":{"c2":"c2:2"},"preCheckBeforeNext":{"containersRequiredReady":["cx"]}}`, "c1:1 c2:1 c3:1", false},
		{"IP-18: no container of the pod waits", `"nextContainerImages":{"cx":"c2:2"}}`, "c1:1 c2:1 c3:1", true},
		{
			"IP-18: metadata with null creationTimestamp, as 1.4 writes it",
			`"nextContainerRefMetadata":{"c2":{"creationTimestamp":null,"labels":{"k":"w"}}}}`, "c1:1 c2:1 c3:1", false,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, progress := refresh(t, with(tt.rest), after(60))
			if images(got) != tt.images || progress.Complete != tt.complete {
				t.Errorf("got %s, %v", images(got), progress)
			}
			if wantK := map[bool]string{true: "w", false: "v"}[strings.Contains(tt.rest, "labels")]; got.Labels["k"] != wantK {
				t.Errorf("label k: got %s, want %s", got.Labels["k"], wantK)
			}
		})
	}
}

func TestRefreshGrace(t *testing.T) {
	envK := env(0, "K", "metadata.labels['k']")
	to := template(envK, image(1, "c2:2"), label("k", "w"), annotate("a", "c"))
	u := calculate(t, template(envK), to)
	inGrace := func(changes ...func(*corev1.Pod)) *corev1.Pod {
		pod := begin(t, running(template(envK), func(pod *corev1.Pod) { agent(t, pod) }), u, 30)
		for _, c := range changes {
			c(pod)
		}
		return pod
	}
	relabel := func(value string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) { pod.Labels[appsv1.ControllerRevisionHashLabelKey] = value }
	}
	legacy := func(pod *corev1.Pod) {
		for key, old := range map[string]string{v1alpha1.StateAnnotation: v1alpha1.LegacyStateAnnotation, v1alpha1.GraceAnnotation: v1alpha1.LegacyGraceAnnotation} {
			pod.Annotations[old] = pod.Annotations[key]
			delete(pod.Annotations, key)
		}
	}
	for _, tt := range []struct {
		name    string
		pod     *corev1.Pod
		now     time.Time
		requeue time.Duration
		images  string
		inGrace bool
	}{
		{"IP-20: at once", inGrace(), after(0), 30 * time.Second, "c1:1 c2:1 c3:1", true},
		{"IP-20: rounded up", inGrace(), after(0).Add(100 * time.Millisecond), 30 * time.Second, "c1:1 c2:1 c3:1", true},
		{"IP-20: whole seconds", inGrace(), after(10), 20 * time.Second, "c1:1 c2:1 c3:1", true},
		{"IP-20: just before", inGrace(), after(30).Add(-time.Nanosecond), time.Second, "c1:1 c2:1 c3:1", true},
		{"IP-20: over", inGrace(), after(30), 0, "c1:1 c2:2 c3:1", false},
		{"IP-20: the label holds the short hash", inGrace(relabel("new")), after(30), 0, "c1:1 c2:2 c3:1", false},
		{"IP-20: under the old names", inGrace(legacy), after(30), 0, "c1:1 c2:2 c3:1", false},
		{"IP-21: another revision", inGrace(relabel("demo-other")), after(30), 0, "c1:1 c2:1 c3:1", false},
		{"IP-21: another revision, before the end", inGrace(relabel("demo-other")), after(10), 0, "c1:1 c2:1 c3:1", false},
		{"IP-21: no revision", inGrace(relabel("")), after(10), 0, "c1:1 c2:1 c3:1", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, progress := refresh(t, tt.pod, tt.now)
			if progress.Complete || progress.Waiting == "" {
				t.Errorf("IP-25: complete %t, waiting %q", progress.Complete, progress.Waiting)
			}
			if progress.RequeueAfter != tt.requeue {
				t.Errorf("looks again after %s, want %s", progress.RequeueAfter, tt.requeue)
			}
			if images(got) != tt.images || inplace.InGrace(got) != tt.inGrace {
				t.Errorf("images %s, in grace %t", images(got), inplace.InGrace(got))
			}
			if condition(got, v1alpha1.InPlaceUpdateReady) != started {
				t.Errorf("IP-26: the condition became %s", condition(got, v1alpha1.InPlaceUpdateReady))
			}
		})
	}

	pod, _ := refresh(t, inGrace(), after(35))
	if pod.Labels["k"] != "w" || pod.Annotations["a"] != "c" {
		t.Errorf("IP-20: labels %v, annotations %v", pod.Labels, pod.Annotations)
	}
	want := `{"revision":"demo-new","updateTimestamp":"2024-05-06T07:08:09Z","lastContainerStatuses":{"c2":{"imageID":"id of c2:1"}},` +
		`"updateEnvFromMetadata":true,"containerBatchesRecord":[{"timestamp":"2024-05-06T07:08:44Z","containers":["c1","c2"]}],` +
		`"lastContainers":{"c2":{"containerID":"containerd://c2:1","images":["c2:1"],"image":"c2:2"}}}`
	if diff := cmp.Diff(want, pod.Annotations[v1alpha1.StateAnnotation]); diff != "" {
		t.Errorf("IP-12, IP-20: -want +got:\n%s", diff)
	}
	kubelet(pod)
	agent(t, pod)
	if _, progress := refresh(t, pod, after(60)); !progress.Complete {
		t.Errorf("IP-E13: the next update cannot begin: %s", progress.Waiting)
	}
}

func TestRefreshErrors(t *testing.T) {
	pod := func(annotations ...string) *corev1.Pod {
		return running(template(), func(pod *corev1.Pod) {
			pod.Status.Conditions[2].Status = "False"
			for i := 0; i < len(annotations); i += 2 {
				pod.Annotations[annotations[i]] = annotations[i+1]
			}
		})
	}
	for _, tt := range []struct {
		name string
		pod  *corev1.Pod
		want string
	}{
		{"IP-22: grace without state", pod(v1alpha1.GraceAnnotation, `{"revision":"demo-old"}`), "needs annotation apps.kruise.io/inplace-update-state"},
		{"IP-E14: broken state", pod(v1alpha1.StateAnnotation, `{"revision":1}`), "annotation apps.kruise.io/inplace-update-state is not readable"},
		{"broken grace", pod(v1alpha1.StateAnnotation, `{}`, v1alpha1.GraceAnnotation, ``), "annotation apps.kruise.io/inplace-update-grace is not readable"},
		{
			"broken report of the agent", pod(v1alpha1.StateAnnotation, `{}`, v1alpha1.RuntimeContainersMetaAnnotation, `[]`),
			"annotation apps.kruise.io/runtime-containers-meta is not readable",
		},
		{
			"grace for a container that the pod does not have",
			pod(v1alpha1.StateAnnotation, `{}`, v1alpha1.GraceAnnotation, `{"revision":"demo-old","containerImages":{"cx":"x"}}`), `container "cx"`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got podpatch.Patch
			_, err := inplace.Refresh(&got, tt.pod, after(60))
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "pod default/demo-abcde") {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if diff := cmp.Diff(podpatch.Patch{}, got); diff != "" {
				t.Errorf("something is to be written: %s", diff)
			}
		})
	}
}

// The record of a new pod may be unreadable, such as one that came with its template. The pod is put into service all the same:
// no update has taken it out. (IP-E14)
func TestRefreshPutsANewPodIntoServiceWhateverItsRecord(t *testing.T) {
	fresh := running(template(), func(pod *corev1.Pod) {
		pod.Status.Conditions = pod.Status.Conditions[:2]
		pod.Annotations[v1alpha1.StateAnnotation] = "{"
	})
	var got podpatch.Patch
	if _, err := inplace.Refresh(&got, fresh, after(60)); err == nil {
		t.Error("the record is not reported")
	}
	if c := got.Condition(fresh, v1alpha1.InPlaceUpdateReady); c == nil || c.Status != corev1.ConditionTrue {
		t.Errorf("InPlaceUpdateReady: got %v, want True", c)
	}
}

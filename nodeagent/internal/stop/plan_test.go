// SPDX-License-Identifier: Apache-2.0

package stop

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/internal/testing/fakecri"
	"github.com/podwright/podwright/nodeagent/internal/podnet"
)

func TestKnown(t *testing.T) {
	pod := corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: "default", Name: "web-0", UID: "u"}
	labels := map[string]string{
		"io.kubernetes.pod.name": "web-0", "io.kubernetes.pod.namespace": "default", "io.kubernetes.pod.uid": "u",
		"io.kubernetes.container.name": "main",
	}
	const grace, deletion = "io.kubernetes.pod.terminationGracePeriod", "io.kubernetes.pod.deletionGracePeriod"
	const hook, ports = "io.kubernetes.container.preStopHandler", "io.kubernetes.container.ports"
	for _, test := range []struct {
		name        string
		annotations map[string]string
		want        Request
		err         string
	}{
		{name: "CM-6: no grace annotation"},
		{name: "CM-6: the grace period of the spec", annotations: map[string]string{grace: "30"}, want: Request{GraceSeconds: 30}},
		{name: "CM-6: that of a deletion goes before", annotations: map[string]string{grace: "30", deletion: "5"}, want: Request{GraceSeconds: 5}},
		{name: "CM-6: also where it is zero", annotations: map[string]string{grace: "30", deletion: "0"}, want: Request{GraceSeconds: 0}},
		{name: "a grace period that is no number", annotations: map[string]string{grace: "30", deletion: "soon"}, want: Request{GraceSeconds: 30},
			err: `annotation io.kubernetes.pod.deletionGracePeriod is "soon": want seconds`},
		{name: "a negative one", annotations: map[string]string{grace: "-1"}, err: "want seconds"},
		{name: "CM-6: hook and ports", annotations: map[string]string{
			hook: `{"httpGet":{"path":"/bye","port":"http"}}`, ports: `[{"name":"http","containerPort":8080,"protocol":"TCP"}]`,
		}, want: Request{
			PreStop: &corev1.LifecycleHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/bye", Port: intstr.FromString("http")}},
			ports:   []corev1.ContainerPort{{Name: "http", ContainerPort: 8080, Protocol: "TCP"}},
		}},
		{name: "a hook that is not readable", annotations: map[string]string{hook: "{", grace: "7"}, want: Request{GraceSeconds: 7},
			err: "annotation io.kubernetes.container.preStopHandler is not readable"},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.want.ID, test.want.SandboxID, test.want.Pod = "c1", "s1", pod
			got, err := Known(&criv1.Container{Id: "c1", PodSandboxId: "s1", Labels: labels, Annotations: test.annotations})
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(Request{})); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
			if test.err == "" && err != nil || test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
				t.Errorf("error %v, want %q", err, test.err)
			}
		})
	}
}

// What the kubelet writes down is what Known reads.
func TestKnownReadsWhatTheKubeletWrites(t *testing.T) {
	spec := corev1.Container{Name: "main", Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 80}}, Lifecycle: &corev1.Lifecycle{
		PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 3}},
	}}
	pod := &corev1.Pod{Spec: corev1.PodSpec{TerminationGracePeriodSeconds: ptr.To[int64](45), Containers: []corev1.Container{spec}}}
	c, err := fakecri.ContainerOf(pod, &spec, 0)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Known(&criv1.Container{Labels: c.Status.Labels, Annotations: c.Status.Annotations})
	if err != nil || got.GraceSeconds != 45 || len(got.ports) != 1 || got.PreStop.Sleep.Seconds != 3 {
		t.Errorf("request %+v, error %v", got, err)
	}
}

func TestGrace(t *testing.T) {
	hook := &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{}}
	for _, test := range []struct {
		name    string
		seconds int64
		hook    *corev1.LifecycleHandler
		took    time.Duration
		runs    bool
		after   time.Duration
	}{
		{"CRR-5.5.3: a hook runs within the grace period", 30, hook, 0, true, 30 * time.Second},
		{"CRR-5.5.3: without a grace period it does not", 0, hook, 0, false, 2 * time.Second},
		{"a negative one is none", -5, hook, 0, false, 2 * time.Second},
		{"no hook", 30, nil, 0, false, 30 * time.Second},
		{"CRR-5.5.4: whole seconds of the hook count", 30, hook, 4900 * time.Millisecond, true, 26 * time.Second},
		{"CRR-5.5.4: 2 s are left at least", 30, hook, 30 * time.Second, true, 2 * time.Second},
		{"CRR-5.5.4: also where less was there at first", 1, nil, 0, false, 2 * time.Second},
		{"an endless one", 1 << 62, hook, 0, true, mostGrace},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := &Request{GraceSeconds: test.seconds, PreStop: test.hook}
			if got := r.runsHook(); got != test.runs {
				t.Errorf("the hook runs: %v", got)
			}
			if got := r.graceAfter(test.took); got != test.after {
				t.Errorf("%s are left, want %s", got, test.after)
			}
		})
	}
}

func FuzzKnown(f *testing.F) {
	f.Add("30", "5", `{"httpGet":{"port":"http"}}`, `[{"name":"http","containerPort":80}]`)
	f.Add("-1", "x", `{"exec":{}}`, `null`)
	f.Add("30", "5", `{"httpGet":{"port":"http"}}`, `[{"name":"http"}]`)
	f.Fuzz(func(t *testing.T, grace, deletion, hook, ports string) {
		r, _ := Known(&criv1.Container{Annotations: map[string]string{
			"io.kubernetes.pod.terminationGracePeriod": grace, "io.kubernetes.pod.deletionGracePeriod": deletion,
			"io.kubernetes.container.preStopHandler": hook, "io.kubernetes.container.ports": ports,
		}})
		if r.GraceSeconds < 0 || r.grace() < 0 || r.graceAfter(time.Hour) < 2*time.Second {
			t.Errorf("grace %d, %s, %s after an hour", r.GraceSeconds, r.grace(), r.graceAfter(time.Hour))
		}
		if r.PreStop != nil && r.PreStop.HTTPGet != nil {
			if _, err := podnet.Get(t.Context(), r.PreStop.HTTPGet, "10.0.0.7", r.ports); err == nil {
				if port, err := podnet.Port(r.PreStop.HTTPGet.Port, r.ports); err != nil || port < 1 || port > 65535 {
					t.Errorf("a request to port %d: %v", port, err)
				}
			}
		}
	})
}

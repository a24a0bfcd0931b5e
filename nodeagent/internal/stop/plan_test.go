// SPDX-License-Identifier: Apache-2.0

package stop

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/internal/testing/fakecri"
	"github.com/podwright/podwright/nodeagent/internal/podnet"
)

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

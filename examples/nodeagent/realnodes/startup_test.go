// SPDX-License-Identifier: Apache-2.0

package realnodes

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/examples/tests/cluster/registry"
	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
)

// IP-45: a workload updates a container with a startup probe in place. This kubelet says at once that the container which it has restarted has
// started. The second pod is updated all the same when the program of the first has come up, and not before.
func TestStartupProbeAfterUpdateInPlace(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	first, _ := s.image("v1", registry.Image{})
	second, _ := s.image("v2", registry.Image{})
	set := cloneSet("web", first, 2)
	containers := shells(first, fmt.Sprintf("main=trap 'exit 0' TERM; sleep %d; : > /started; while :; do sleep 0.1; done", int(startsIn.Seconds())))
	containers[0].StartupProbe = &corev1.Probe{PeriodSeconds: 1, FailureThreshold: 100,
		ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"test", "-e", "/started"}}}}
	set.Spec.Template.Spec.Containers = containers
	before := s.run(set)

	set.Spec.Template.Spec.Containers[0].Image = second
	s.setContainers(set)
	began, up := map[string]time.Time{}, map[string]time.Time{} // when the update of a pod began, and when its program has come up
	for _, was := range before {
		is := s.AwaitPod(was.Name, "it runs the second image in service", func(pod *corev1.Pod) string {
			if c := podstate.ContainerStatus(pod, "main"); !podstate.InService(pod) || c.State.Running == nil || !strings.HasSuffix(c.Image, second) || c.Started == nil || !*c.Started {
				return podstate.Describe(pod, false)
			}
			return ""
		})
		var state inplacev1alpha1.State
		if err := json.Unmarshal([]byte(is.Annotations[inplacev1alpha1.StateAnnotation]), &state); err != nil || is.UID != was.UID {
			t.Fatalf("pod %s: another one, or not updated in place: %v", is.Name, err)
		}
		began[is.Name] = state.UpdateTimestamp.Time
		up[is.Name] = podstate.ContainerStatus(is, "main").State.Running.StartedAt.Add(startsIn)
	}
	earlier, later := before[0].Name, before[1].Name
	if began[later].Before(began[earlier]) {
		earlier, later = later, earlier
	}
	if began[later].Before(up[earlier].Add(-time.Second)) { // times of the API are in seconds
		t.Errorf("IP-45: the update of pod %s began at %s, and the program of pod %s came up at %s", later, began[later], earlier, up[earlier])
	}
}

// SPDX-License-Identifier: Apache-2.0

package realnodes

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/examples/tests/cluster/registry"
	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
)

const (
	// secret is what the commands of probes print, and the server says.
	secret = "a-secret-of-the-container"
	// serves is a container with a web server whose files a test makes.
	serves = "mkdir -p /www && httpd -p 8080 -h /www && " + endsAtOnce
	// idleCondition is the type of a condition.
	idleCondition = "game.io/Idle"
)

// idle is a probe that succeeds once there is a file, and makes such pods be deleted first.
func idle() lifecyclev1alpha1.PodContainerProbe {
	return lifecyclev1alpha1.PodContainerProbe{
		Name: "idle", ContainerName: "main", PodConditionType: idleCondition, HideOutput: true,
		Probe: everySecond(corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"sh", "-c", "echo " + secret + "; echo " + secret + " >&2; test -f /idle"}}}),
		MarkerPolicy: []lifecyclev1alpha1.ProbeMarkerPolicy{
			{State: lifecyclev1alpha1.ProbeSucceeded, Labels: map[string]string{"game.io/idle": "true"}, Annotations: map[string]string{corev1.PodDeletionCost: "-10"}},
			{State: lifecyclev1alpha1.ProbeFailed, Labels: map[string]string{"game.io/idle": "false"}, Annotations: map[string]string{corev1.PodDeletionCost: "10"}},
		},
	}
}

// drained is a probe that succeeds once the server has a file; until then the hook of a CloneSet holds the pod.
func drained() lifecyclev1alpha1.PodContainerProbe {
	return lifecyclev1alpha1.PodContainerProbe{
		Name: "drained", ContainerName: "main",
		Probe: everySecond(corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/drained", Port: intstr.FromString("web")}}),
		MarkerPolicy: []lifecyclev1alpha1.ProbeMarkerPolicy{
			{State: lifecyclev1alpha1.ProbeFailed, Labels: map[string]string{"game.io/busy": "true"}},
		},
	}
}

// listens is a probe of a port.
func listens() lifecyclev1alpha1.PodContainerProbe {
	return lifecyclev1alpha1.PodContainerProbe{
		Name: "listens", ContainerName: "main", PodConditionType: "game.io/Listens",
		Probe: everySecond(corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(8080)}}),
	}
}

func everySecond(handler corev1.ProbeHandler) corev1.Probe {
	return corev1.Probe{ProbeHandler: handler, PeriodSeconds: 1, TimeoutSeconds: 5}
}

// mark has the pods of the CloneSet games probed.
func (s *scene) mark(name string, probes ...lifecyclev1alpha1.PodContainerProbe) {
	s.Helper()
	marker := &lifecyclev1alpha1.PodProbeMarker{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: lifecyclev1alpha1.PodProbeMarkerSpec{
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "games"}}, Probes: probes}}
	if _, err := lifecycle.PodProbeMarkers(s.Namespace).Create(s.Context(), marker, metav1.CreateOptions{}); err != nil {
		s.Fatal(err)
	}
}

// games runs a CloneSet whose pods serve.
func (s *scene) games(replicas int32, edits ...func(*workloadsv1alpha1.CloneSet)) []*corev1.Pod {
	s.Helper()
	image, _ := s.image("shell", registry.Image{})
	set := cloneSet("games", image, replicas)
	set.Spec.Template.Spec.Containers = shells(image, "main="+serves)
	set.Spec.Template.Spec.Containers[0].Ports = []corev1.ContainerPort{{Name: "web", ContainerPort: 8080}}
	for _, edit := range edits {
		edit(set)
	}
	return s.run(set)
}

// awaitEach waits until all active pods are as wanted.
func (s *scene) awaitEach(moment string, wrong func(*corev1.Pod) string) {
	s.Helper()
	s.Await(moment, func() string {
		for _, pod := range s.Pods.All() {
			if podstate.Active(pod) {
				if wrong := wrong(pod); wrong != "" {
					return pod.Name + ": " + wrong
				}
			}
		}
		return ""
	})
}

// shows says in what a pod differs from a state of the probe idle: condition, label and annotation.
func shows(condition corev1.ConditionStatus, label, cost string) func(*corev1.Pod) string {
	return func(pod *corev1.Pod) string {
		c := podstate.Condition(pod, idleCondition)
		if c.Status == condition && pod.Labels["game.io/idle"] == label && pod.Annotations[corev1.PodDeletionCost] == cost {
			return ""
		}
		return fmt.Sprintf("condition %+v, labels %v, annotations %v", c, pod.Labels, pod.Annotations)
	}
}

// awaitLeft waits until these pods are left, and no others.
func (s *scene) awaitLeft(moment string, pods ...*corev1.Pod) {
	s.Helper()
	var want []string
	for _, pod := range pods {
		want = append(want, pod.Name)
	}
	slices.Sort(want)
	s.Await(moment, func() string {
		var got []string
		for _, pod := range s.Pods.All() {
			got = append(got, pod.Name)
		}
		slices.Sort(got)
		if slices.Equal(got, want) {
			return ""
		}
		return fmt.Sprintf("want %v, found %v", want, got)
	})
}

// noSecret names the places that have the output of a container.
func (s *scene) noSecret() {
	s.Helper()
	nodes, err := lifecycle.NodePodProbes().List(s.Context(), metav1.ListOptions{})
	if err != nil {
		s.Fatal(err)
	}
	reported := 0
	for i := range nodes.Items {
		text, _ := json.Marshal(nodes.Items[i].Status)
		if strings.Contains(string(text), secret) {
			s.Errorf("the output of a command is in the status of NodePodProbe %s", nodes.Items[i].Name)
		}
		reported += len(nodes.Items[i].Status.PodProbeStatuses)
	}
	events, err := bed.Core.CoreV1().Events(s.Namespace).List(s.Context(), metav1.ListOptions{})
	if err != nil {
		s.Fatal(err)
	}
	recorded := 0
	for i := range events.Items {
		e := &events.Items[i]
		if e.Reason != lifecyclev1alpha1.ProbeFailedEvent && e.Reason != lifecyclev1alpha1.ProbeSucceededEvent {
			continue
		}
		recorded++
		if strings.Contains(e.Message, secret) {
			s.Errorf("the output of a command is in an event: %s", e.Message)
		}
	}
	if reported == 0 || recorded == 0 {
		s.Errorf("%d states and %d events, want some of both", reported, recorded)
	}
}

// PPM-3.3 to PPM-3.5, PPM-4.4, PPM-4.7: a CloneSet deletes the pods first in which a command has succeeded, whichever they are. With
// the marker go its probes; what is on the pods stays.
func TestProbesDecideWhichPodsGo(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	pods := s.games(3)
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { // the longest ready one is the last to go, by itself
		return cmp.Or(podstate.Condition(a, corev1.PodReady).LastTransitionTime.Compare(podstate.Condition(b, corev1.PodReady).LastTransitionTime.Time), cmp.Compare(a.Name, b.Name))
	})
	s.mark("games", idle(), listens())
	s.awaitEach("all pods are busy, and listen", func(pod *corev1.Pod) string {
		if c := podstate.Condition(pod, "game.io/Listens"); c.Status != corev1.ConditionTrue {
			return fmt.Sprintf("it does not listen: %+v", c)
		}
		return shows(corev1.ConditionFalse, "false", "10")(pod)
	})
	if c := podstate.Condition(pods[0], idleCondition); strings.Contains(c.Message, secret) {
		t.Errorf("the output of a command is in a condition: %s", c.Message)
	}
	s.noSecret()
	for i, pod := range pods[:2] {
		s.exec(pod, "main", "touch", "/idle")
		s.AwaitPod(pod.Name, "it is idle", shows(corev1.ConditionTrue, "true", "-10"))
		s.edit("games", fmt.Sprintf(`{"spec":{"replicas":%d}}`, 2-i))
		s.awaitLeft("the idle pod is gone", pods[i+1:]...)
	}
	last := pods[2]
	s.exec(last, "main", "touch", "/idle")
	s.AwaitPod(last.Name, "it is idle", shows(corev1.ConditionTrue, "true", "-10"))
	s.exec(last, "main", "rm", "/idle")
	s.AwaitPod(last.Name, "it is busy again", shows(corev1.ConditionFalse, "false", "10")) // which counts its first event up
	if err := lifecycle.PodProbeMarkers(s.Namespace).Delete(s.Context(), "games", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	s.awaitNoProbes("games")
	s.AwaitPod(last.Name, "it stays as it was", shows(corev1.ConditionFalse, "false", "10"))
}

// awaitNoProbes waits until a marker is gone, and with it its probes on all nodes, and their states.
func (s *scene) awaitNoProbes(marker string) {
	s.Helper()
	s.AwaitAsking("no probes of marker "+marker, func() string {
		if _, err := lifecycle.PodProbeMarkers(s.Namespace).Get(s.Context(), marker, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Sprintf("the marker is still there: %v", err)
		}
		nodes, err := lifecycle.NodePodProbes().List(s.Context(), metav1.ListOptions{})
		if err != nil {
			return err.Error()
		}
		for i := range nodes.Items {
			n := &nodes.Items[i]
			for _, pod := range n.Spec.PodProbes {
				if pod.Namespace == s.Namespace {
					return fmt.Sprintf("NodePodProbe %s has %+v", n.Name, pod)
				}
			}
			for _, pod := range n.Status.PodProbeStatuses {
				if pod.Namespace == s.Namespace {
					return fmt.Sprintf("NodePodProbe %s reports %+v", n.Name, pod)
				}
			}
		}
		return ""
	})
}

// PPM-3.5, PPM-4.4, LC-3: the hook of a CloneSet holds a pod until its server says that it is drained.
func TestProbeReleasesHook(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	pod := s.games(1, func(set *workloadsv1alpha1.CloneSet) {
		set.Spec.Lifecycle = &lifecyclev1alpha1.Lifecycle{PreDelete: &lifecyclev1alpha1.LifecycleHook{LabelsHandler: map[string]string{"game.io/busy": "true"}}}
	})[0]
	s.mark("games", drained())
	s.AwaitPod(pod.Name, "it is busy", func(pod *corev1.Pod) string {
		if pod.Labels["game.io/busy"] == "true" {
			return ""
		}
		return fmt.Sprint(pod.Labels)
	})
	s.edit("games", `{"spec":{"replicas":0}}`)
	held := s.AwaitPod(pod.Name, "the hook holds it", func(pod *corev1.Pod) string {
		if state := pod.Labels[lifecyclev1alpha1.StateLabel]; state != string(lifecyclev1alpha1.StatePreparingDelete) {
			return "state " + state
		}
		return ""
	})
	if held.DeletionTimestamp != nil {
		t.Error("it is being deleted while it is busy")
	}
	s.exec(pod, "main", "sh", "-c", "echo "+secret+" >/www/drained")
	s.AwaitGone(pod, "the server has drained")
}

// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	lifecycleclient "github.com/podwright/podwright/lifecycle/client"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// probedFixture plays the agents of the nodes, which are simulated.
type probedFixture struct {
	*cloneSetFixture
	lifecycle lifecycleclient.Interface
}

// marker has pods probed that have the label app=web.
func (s *probedFixture) marker(name string) *lifecyclev1alpha1.PodProbeMarker {
	return &lifecyclev1alpha1.PodProbeMarker{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: lifecyclev1alpha1.PodProbeMarkerSpec{
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		Probes: []lifecyclev1alpha1.PodContainerProbe{{Name: "idle", ContainerName: "main", PodConditionType: "game.io/Idle",
			Probe: corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(80)}}},
			MarkerPolicy: []lifecyclev1alpha1.ProbeMarkerPolicy{
				{State: lifecyclev1alpha1.ProbeSucceeded, Labels: map[string]string{"idle": "yes"}, Annotations: map[string]string{corev1.PodDeletionCost: "-10"}},
				{State: lifecyclev1alpha1.ProbeFailed, Labels: map[string]string{"idle": "no"}},
			}}},
	}}
}

// asked lists the probes of the pods of the namespace, as "pod probe", and the objects that have them.
func (s *probedFixture) asked() map[string]*lifecyclev1alpha1.NodePodProbe {
	s.Helper()
	nodes, err := s.lifecycle.NodePodProbes().List(s.Context(), metav1.ListOptions{})
	if err != nil {
		s.Fatal(err)
	}
	all := map[string]*lifecyclev1alpha1.NodePodProbe{}
	for i := range nodes.Items {
		for _, pod := range nodes.Items[i].Spec.PodProbes {
			for _, probe := range pod.Probes {
				if pod.Namespace == s.Namespace {
					all[pod.Name+" "+probe.Name] = &nodes.Items[i]
				}
			}
		}
	}
	return all
}

// awaitAsked waits until every pod is probed for each marker that is given, and for no other.
func (s *probedFixture) awaitAsked(rule string, markers ...string) map[string]*lifecyclev1alpha1.NodePodProbe {
	s.Helper()
	var all map[string]*lifecyclev1alpha1.NodePodProbe
	s.AwaitAsking(rule, func() string {
		all = s.asked()
		for _, pod := range s.owned("web") {
			for _, marker := range markers {
				if n := all[pod.Name+" "+marker+"#idle"]; n == nil || n.Name != pod.Spec.NodeName {
					return fmt.Sprintf("pod %s is not probed for %s", pod.Name, marker)
				}
			}
		}
		if want := len(s.owned("web")) * len(markers); len(all) != want {
			return fmt.Sprintf("%d probes, want %d", len(all), want)
		}
		return ""
	})
	return all
}

// report has the agent of a pod's node report a state of all probes of the pod. Others report of their pods meanwhile.
func (s *probedFixture) report(pod *corev1.Pod, state lifecyclev1alpha1.ProbeState) {
	s.Helper()
	s.AwaitAsking("the agent reports", func() string {
		n, err := s.lifecycle.NodePodProbes().Get(s.Context(), pod.Spec.NodeName, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		status := lifecyclev1alpha1.PodProbeStatus{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID}
		for _, p := range n.Spec.PodProbes {
			for _, probe := range p.Probes {
				if p.UID == pod.UID {
					status.ProbeStates = append(status.ProbeStates, lifecyclev1alpha1.ContainerProbeState{Name: probe.Name, State: state})
				}
			}
		}
		statuses := []lifecyclev1alpha1.PodProbeStatus{status}
		for _, other := range n.Status.PodProbeStatuses {
			if other.UID != pod.UID {
				statuses = append(statuses, other)
			}
		}
		patch, _ := json.Marshal(map[string]any{"metadata": map[string]any{"resourceVersion": n.ResourceVersion}, "status": map[string]any{"podProbeStatuses": statuses}})
		if _, err := s.lifecycle.NodePodProbes().Patch(s.Context(), n.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status"); err != nil {
			return err.Error()
		}
		return ""
	})
}

// shows says in what a pod differs from these results.
func shows(condition corev1.ConditionStatus, label, cost string) func(*corev1.Pod) string {
	return func(pod *corev1.Pod) string {
		if c := podstate.Condition(pod, "game.io/Idle"); c.Status != condition || pod.Labels["idle"] != label || pod.Annotations[corev1.PodDeletionCost] != cost {
			return fmt.Sprintf("condition %+v, labels %v, annotations %v", c, pod.Labels, pod.Annotations)
		}
		return ""
	}
}

// Markers have the pods of a CloneSet probed on their nodes. What agents report comes to the pods, and the end of one marker takes
// its probes away and those of no other.
func TestPodProbeMarker(t *testing.T) {
	t.Parallel()
	s := &probedFixture{cloneSetFixture: newCloneSetFixture(t)}
	var err error
	if s.lifecycle, err = lifecycleclient.NewForConfig(s.Config()); err != nil {
		t.Fatal(err)
	}
	markers := s.lifecycle.PodProbeMarkers(s.Namespace)
	s.run(cloneSet("web", 3))
	for _, name := range []string{"games", "mes"} { // the one ends as the other is called
		if _, err := markers.Create(t.Context(), s.marker(name), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	s.awaitAsked("PPM-3.2: all pods are probed", "games", "mes")
	s.AwaitAsking("PPM-2.2, PPM-2.3: finalizer and status", func() string {
		m, err := markers.Get(t.Context(), "games", metav1.GetOptions{})
		if err != nil || len(m.Finalizers) != 1 || m.Status.MatchedPods != 3 || m.Status.ObservedGeneration != m.Generation {
			return fmt.Sprintf("error %v, marker %+v", err, m)
		}
		return ""
	})

	pod := s.owned("web")[0]
	s.report(pod, lifecyclev1alpha1.ProbeSucceeded)
	s.AwaitPod(pod.Name, "PPM-3.4, PPM-3.5: it is idle", shows(corev1.ConditionTrue, "yes", "-10"))
	s.report(pod, lifecyclev1alpha1.ProbeFailed)
	s.AwaitPod(pod.Name, "PPM-3.5: what the other state has set is gone", shows(corev1.ConditionFalse, "no", ""))
	s.report(pod, lifecyclev1alpha1.ProbeUnknown)
	s.AwaitPod(pod.Name, "PPM-3.5: what is not known changes no label", shows(corev1.ConditionUnknown, "no", ""))

	for i, marker := range []string{"mes", "games"} {
		if err := markers.Delete(t.Context(), marker, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		s.awaitAsked("PPM-2.4: its probes are gone, and no other", []string{"games"}[i:]...)
		s.AwaitAsking("PPM-2.4: the marker is gone", func() string {
			if _, err := markers.Get(t.Context(), marker, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				return fmt.Sprint("error ", err)
			}
			return ""
		})
	}
	s.AwaitPod(pod.Name, "PPM-2.4: what is on the pod stays", shows(corev1.ConditionUnknown, "no", ""))
}

// PPM-1.4: no probe leaves the pod, whichever component judges the marker first.
func TestPodProbeMarkerWithHost(t *testing.T) {
	t.Parallel()
	s := &probedFixture{cloneSetFixture: newCloneSetFixture(t)}
	client, err := lifecycleclient.NewForConfig(s.Config())
	if err != nil {
		t.Fatal(err)
	}
	m := s.marker("games")
	m.Spec.Probes[0].Probe.TCPSocket.Host = "169.254.169.254"
	_, err = client.PodProbeMarkers(s.Namespace).Create(t.Context(), m, metav1.CreateOptions{})
	if code := apierrors.ReasonForError(err); err == nil || !strings.Contains(err.Error(), "a probe goes to the pod") {
		t.Errorf("reason %s, error %v", code, err)
	}
	m.Spec.Probes[0].Probe.TCPSocket = &corev1.TCPSocketAction{Port: intstr.FromString("no port!")}
	_, err = client.PodProbeMarkers(s.Namespace).Create(t.Context(), m, metav1.CreateOptions{})
	if status, ok := err.(apierrors.APIStatus); !ok || status.Status().Code != http.StatusBadRequest {
		t.Errorf("PPM-1.1: error %v", err)
	}
}

// virtualNodes has what runs the pods of virtual nodes probe them.
const virtualNodes = ",EnablePodProbeMarkerOnServerless=true"

// probesOnVirtualNode makes a node that no kubelet takes care of a virtual one, and plays what runs its pods. A new pod has its probes in
// annotations, and labels follow the conditions that are written. No agent is asked. (PPM-1.7, PPM-3.9)
func probesOnVirtualNode(t *testing.T, of *cloneSetFixture, node string) {
	s := &probedFixture{cloneSetFixture: of}
	var err error
	if s.lifecycle, err = lifecycleclient.NewForConfig(s.Config()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Core.CoreV1().Nodes().Patch(t.Context(), node, types.MergePatchType, []byte(`{"metadata":{"labels":{"type":"virtual-kubelet"}}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	markers, pods := s.lifecycle.PodProbeMarkers(s.Namespace), s.Core.CoreV1().Pods(s.Namespace)
	if _, err := markers.Create(t.Context(), s.marker("games"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = markers.Delete(context.Background(), "games", metav1.DeleteOptions{})
		_ = pods.Delete(context.Background(), "virtual", metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))})
	})
	pod := plainPod("virtual", webPod, func(pod *corev1.Pod) { pod.Spec.NodeName = node })
	s.AwaitAsking("PPM-1.7: the webhook is asked about the pods", func() string {
		asked, err := pods.Create(t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil || asked.Annotations[lifecyclev1alpha1.PodProbesAnnotation] == "" {
			return fmt.Sprintf("error %v, annotations %v", err, asked.GetAnnotations())
		}
		return ""
	})
	created, err := pods.Create(t.Context(), pod, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var probes []lifecyclev1alpha1.PodContainerProbe
	if err := json.Unmarshal([]byte(created.Annotations[lifecyclev1alpha1.PodProbesAnnotation]), &probes); err != nil || len(probes) != 1 ||
		probes[0].PodConditionType != "game.io/Idle" || probes[0].MarkerPolicy != nil || created.Annotations[lifecyclev1alpha1.PodProbeMarkersAnnotation] != "games" {
		t.Errorf("PPM-1.7: error %v, annotations %v", err, created.Annotations)
	}

	tell := func(status corev1.ConditionStatus) {
		t.Helper()
		patch := fmt.Sprintf(`{"status":{"phase":"Running","conditions":[{"type":"Initialized","status":"True"},{"type":"game.io/Idle","status":%q}]}}`, status)
		if _, err := pods.Patch(t.Context(), "virtual", types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}, "status"); err != nil {
			t.Fatal(err)
		}
	}
	tell(corev1.ConditionTrue)
	s.AwaitPod("virtual", "PPM-3.9: labels follow the condition", shows(corev1.ConditionTrue, "yes", "-10"))
	tell(corev1.ConditionFalse)
	s.AwaitPod("virtual", "PPM-3.9: what the other state has set is gone", shows(corev1.ConditionFalse, "no", ""))
	if asked := s.asked(); len(asked) > 0 {
		t.Errorf("PPM-3.9: an agent is asked for %v", asked)
	}
}

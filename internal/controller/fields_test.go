// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"reflect"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/podwright/podwright/internal/caches"
)

// runningPod is a pod with something of everything that matters.
// workloadPods are the fields of pods that the planners of workloads read.
const workloadPods = Labels | Annotations | Finalizers | NodeName | Phase | Images | Containers | ObservedGeneration |
	Ready | ContainersReady | InPlaceUpdateReady | KruisePodReady | ReadinessGates

func runningPod() *corev1.Pod {
	since := metav1.NewTime(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC))
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "web-0", UID: "u", ResourceVersion: "7", Generation: 2,
			Labels: map[string]string{"app": "web"}, Annotations: map[string]string{"a": "b"}, Finalizers: []string{"example.com/hold"},
		},
		Spec: corev1.PodSpec{
			NodeName: "node-1", ReadinessGates: []corev1.PodReadinessGate{{ConditionType: "example.com/gate"}},
			Containers: []corev1.Container{{Name: "main", Image: "nginx:1"}},
		},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning,
			Conditions: []corev1.PodCondition{
				{Type: "Ready", Status: "True", LastTransitionTime: since}, {Type: "ContainersReady", Status: "True", LastTransitionTime: since},
				{Type: "InPlaceUpdateReady", Status: "True", LastTransitionTime: since}, {Type: "KruisePodReady", Status: "True", LastTransitionTime: since},
				{Type: "example.com/gate", Status: "True", LastTransitionTime: since},
			},
			ContainerStatuses: []corev1.ContainerStatus{{Name: "main", Image: "nginx:1", ImageID: "sha256:1", ContainerID: "c1", Ready: true}},
		},
	}
}

func TestPodHeartbeatsDoNotMatter(t *testing.T) {
	pod := runningPod()
	now := metav1.NewTime(pod.Status.Conditions[0].LastTransitionTime.Add(time.Hour))
	for name, change := range map[string]func(*corev1.Pod){
		"resourceVersion":      func(p *corev1.Pod) { p.ResourceVersion = "999" },
		"generation":           func(p *corev1.Pod) { p.Generation++ },
		"managedFields":        func(p *corev1.Pod) { p.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubelet"}} },
		"addresses":            func(p *corev1.Pod) { p.Status.PodIP, p.Status.HostIP = "10.0.0.1", "10.1.0.1" },
		"more addresses":       func(p *corev1.Pod) { p.Status.PodIPs = []corev1.PodIP{{IP: "10.0.0.1"}} },
		"start time":           func(p *corev1.Pod) { p.Status.StartTime = &now },
		"observed generation":  func(p *corev1.Pod) { p.Status.ObservedGeneration++ },
		"class":                func(p *corev1.Pod) { p.Status.QOSClass = corev1.PodQOSBurstable },
		"reason and message":   func(p *corev1.Pod) { p.Status.Reason, p.Status.Message = "a", "b" },
		"probe time":           func(p *corev1.Pod) { p.Status.Conditions[0].LastProbeTime = now },
		"condition generation": func(p *corev1.Pod) { p.Status.Conditions[0].ObservedGeneration++ },
		"another condition": func(p *corev1.Pod) {
			p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: "example.com/other", Status: "False"})
		},
		"resize status": func(p *corev1.Pod) { p.Status.Resize = "Deferred" },
		"init containers": func(p *corev1.Pod) {
			p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "init"}}
		},
		"allocated resources": func(p *corev1.Pod) { p.Status.ContainerStatuses[0].AllocatedResources = corev1.ResourceList{} },
		"time in which a container runs": func(p *corev1.Pod) {
			p.Status.ContainerStatuses[0].State.Running = &corev1.ContainerStateRunning{StartedAt: now}
		},
	} {
		after := pod.DeepCopy()
		change(after)
		if reflect.DeepEqual(pod, after) {
			t.Errorf("%s: the test changes nothing", name)
		}
		if Changed(pod, after, workloadPods) != 0 {
			t.Errorf("a change of %s matters", name)
		}
	}
}

// That all that planners read matters is tested with the planners; here is
// what they read.
func TestPodChangesThatMatter(t *testing.T) {
	now := metav1.NewTime(time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC))
	for name, change := range map[string]func(*corev1.Pod){
		"UID":                  func(p *corev1.Pod) { p.UID = "another" },
		"deletion":             func(p *corev1.Pod) { p.DeletionTimestamp = &now },
		"phase":                func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed },
		"node":                 func(p *corev1.Pod) { p.Spec.NodeName = "node-2" },
		"labels":               func(p *corev1.Pod) { p.Labels["app"] = "x" },
		"annotations":          func(p *corev1.Pod) { p.Annotations["a"] = "x" },
		"finalizers":           func(p *corev1.Pod) { p.Finalizers = nil },
		"image":                func(p *corev1.Pod) { p.Spec.Containers[0].Image = "nginx:2" },
		"Ready":                func(p *corev1.Pod) { p.Status.Conditions[0].Status = "False" },
		"time of Ready":        func(p *corev1.Pod) { p.Status.Conditions[0].LastTransitionTime = now },
		"ContainersReady":      func(p *corev1.Pod) { p.Status.Conditions[1].Status = "False" },
		"InPlaceUpdateReady":   func(p *corev1.Pod) { p.Status.Conditions[2].Reason = "x" },
		"KruisePodReady":       func(p *corev1.Pod) { p.Status.Conditions[3].Message = "x" },
		"a condition goes":     func(p *corev1.Pod) { p.Status.Conditions = p.Status.Conditions[1:] },
		"another gate":         func(p *corev1.Pod) { p.Status.Conditions[4].Status = "False" },
		"another gate goes":    func(p *corev1.Pod) { p.Status.Conditions = p.Status.Conditions[:4] },
		"image ID":             func(p *corev1.Pod) { p.Status.ContainerStatuses[0].ImageID = "sha256:2" },
		"image that runs":      func(p *corev1.Pod) { p.Status.ContainerStatuses[0].Image = "nginx:2" },
		"container":            func(p *corev1.Pod) { p.Status.ContainerStatuses[0].ContainerID = "c2" },
		"restarts":             func(p *corev1.Pod) { p.Status.ContainerStatuses[0].RestartCount = 1 },
		"readiness":            func(p *corev1.Pod) { p.Status.ContainerStatuses[0].Ready = false },
		"a container's status": func(p *corev1.Pod) { p.Status.ContainerStatuses = nil },
	} {
		after := runningPod()
		change(after)
		if Changed(runningPod(), after, workloadPods) == 0 {
			t.Errorf("a change of %s does not matter", name)
		}
		before := runningPod()
		for _, pod := range []*corev1.Pod{before, after} {
			if _, err := caches.Trim(pod); err != nil {
				t.Fatal(err)
			}
		}
		if Changed(before, after, workloadPods) == 0 {
			t.Errorf("a trimmed cache does not show %s", name)
		}
	}
}

// A pod that is out of service for an in-place update waits until the kubelet
// has seen its new generation.
func TestObservedGenerationMattersInAnUpdate(t *testing.T) {
	before := runningPod()
	before.Generation, before.Status.ObservedGeneration = 3, 2
	after := before.DeepCopy()
	after.Status.ObservedGeneration = 3
	if Changed(before, after, workloadPods) != 0 {
		t.Error("it matters for a pod in service")
	}
	const sidecars = "kruise.io/sidecarset-inplace-update-state"
	before.Annotations[sidecars], after.Annotations[sidecars] = "{}", "{}"
	if Changed(before, after, workloadPods) == 0 {
		t.Error("it does not matter for a pod whose sidecars are updated")
	}
	delete(before.Annotations, sidecars)
	delete(after.Annotations, sidecars)
	before.Status.Conditions[2].Status, after.Status.Conditions[2].Status = "False", "False"
	if Changed(before, after, workloadPods) == 0 {
		t.Error("it does not matter for a pod that is being updated")
	}
}

func TestClaimChanges(t *testing.T) {
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{UID: "u", Labels: map[string]string{"a": "b"}, ResourceVersion: "1"}}
	for _, test := range []struct {
		name    string
		change  func(*corev1.PersistentVolumeClaim)
		matters bool
	}{
		{"UID", func(c *corev1.PersistentVolumeClaim) { c.UID = "another" }, true},
		{"labels", func(c *corev1.PersistentVolumeClaim) { c.Labels = nil }, true},
		{"deletion", func(c *corev1.PersistentVolumeClaim) { c.DeletionTimestamp = &metav1.Time{} }, true},
		{"version", func(c *corev1.PersistentVolumeClaim) { c.ResourceVersion = "2" }, false},
		{"phase", func(c *corev1.PersistentVolumeClaim) { c.Status.Phase = corev1.ClaimBound }, false},
		{"volume", func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeName = "pv-1" }, false},
	} {
		after := claim.DeepCopy()
		test.change(after)
		if got := Changed(claim, after, Labels) != 0; got != test.matters {
			t.Errorf("a change of %s matters: %v, want %v", test.name, got, test.matters)
		}
	}
}

func TestRevisionChanges(t *testing.T) {
	revision := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{UID: "u", Labels: map[string]string{"a": "b"}, ResourceVersion: "1"},
		Revision: 1, Data: runtime.RawExtension{Raw: []byte("{}")}}
	for _, test := range []struct {
		name    string
		change  func(*appsv1.ControllerRevision)
		matters bool
	}{
		{"UID", func(r *appsv1.ControllerRevision) { r.UID = "another" }, true},
		{"labels", func(r *appsv1.ControllerRevision) { r.Labels = nil }, true},
		{"number", func(r *appsv1.ControllerRevision) { r.Revision = 2 }, true},
		{"data", func(r *appsv1.ControllerRevision) { r.Data.Raw = []byte("[]") }, true},
		{"version", func(r *appsv1.ControllerRevision) { r.ResourceVersion = "2" }, false},
		{"annotations", func(r *appsv1.ControllerRevision) { r.Annotations = map[string]string{"a": "b"} }, false},
	} {
		after := revision.DeepCopy()
		test.change(after)
		if got := Changed(revision, after, Labels|RevisionData) != 0; got != test.matters {
			t.Errorf("a change of %s matters: %v, want %v", test.name, got, test.matters)
		}
	}
}

func TestWorkloadChanges(t *testing.T) {
	workload := &metav1.ObjectMeta{UID: "u", Generation: 1, ResourceVersion: "1", Labels: map[string]string{"a": "b"}}
	for _, test := range []struct {
		name    string
		change  func(*metav1.ObjectMeta)
		matters bool
	}{
		{"UID", func(m *metav1.ObjectMeta) { m.UID = "another" }, true},
		{"generation", func(m *metav1.ObjectMeta) { m.Generation = 2 }, true},
		{"deletion", func(m *metav1.ObjectMeta) { m.DeletionTimestamp = &metav1.Time{} }, true},
		{"labels", func(m *metav1.ObjectMeta) { m.Labels = nil }, true},
		{"annotations", func(m *metav1.ObjectMeta) { m.Annotations = map[string]string{"a": "b"} }, true},
		{"version", func(m *metav1.ObjectMeta) { m.ResourceVersion = "2" }, false},
		{"finalizers", func(m *metav1.ObjectMeta) { m.Finalizers = []string{"f"} }, false},
	} {
		after := workload.DeepCopy()
		test.change(after)
		if got := Changed(workload, after, Workload&^Status) != 0; got != test.matters {
			t.Errorf("a change of %s matters: %v, want %v", test.name, got, test.matters)
		}
	}
}

// What only some kinds declare.
func TestOtherFields(t *testing.T) {
	state := func(edit func(*corev1.ContainerState)) *corev1.Pod {
		pod := runningPod()
		edit(&pod.Status.ContainerStatuses[0].State)
		return pod
	}
	ended := func(code int32) *corev1.Pod {
		return state(func(s *corev1.ContainerState) { s.Terminated = &corev1.ContainerStateTerminated{ExitCode: code} })
	}
	runs := state(func(s *corev1.ContainerState) { s.Running = &corev1.ContainerStateRunning{} })
	waits := state(func(s *corev1.ContainerState) { s.Waiting = &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"} })
	debugged := func(edit func(*corev1.ContainerState)) *corev1.Pod {
		pod := runningPod()
		pod.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "debug"}}}
		pod.Status.EphemeralContainerStatuses = []corev1.ContainerStatus{{Name: "debug"}}
		edit(&pod.Status.EphemeralContainerStatuses[0].State)
		return pod
	}
	debugRuns := debugged(func(s *corev1.ContainerState) { s.Running = &corev1.ContainerStateRunning{} })
	debugWaits := debugged(func(s *corev1.ContainerState) { s.Waiting = &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"} })
	debugEnded := func(message string) *corev1.Pod {
		return debugged(func(s *corev1.ContainerState) { s.Terminated = &corev1.ContainerStateTerminated{Message: message} })
	}
	restarted := debugRuns.DeepCopy()
	restarted.Status.EphemeralContainerStatuses[0].ImageID = "sha256:1"
	released := runningPod()
	released.OwnerReferences = []metav1.OwnerReference{{Name: "web"}}
	node := func(status corev1.ConditionStatus, at int64) *corev1.Node {
		return &corev1.Node{Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{
			{Type: "Ready", Status: status, LastTransitionTime: metav1.Unix(at, 0), LastHeartbeatTime: metav1.Now()}}}}
	}
	given := func(at int64) *corev1.Pod {
		pod := runningPod()
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: "SidecarTerminated", Status: "True", LastTransitionTime: metav1.Unix(at, 0)})
		return pod
	}
	for _, test := range []struct {
		name          string
		before, after metav1.Object
		want          Fields
	}{
		{"a pod is given its phase", runningPod(), given(1), SidecarTerminated | Conditions},
		{"a pod was given its phase at another time", given(1), given(2), SidecarTerminated},
		{"a container runs", runningPod(), runs, ContainerStates},
		{"a container ends", runningPod(), ended(0), ContainerStates},
		{"a container ends otherwise", ended(0), ended(1), ContainerStates},
		{"a container waits", runningPod(), waits, Waiting},
		{"an ephemeral container", runningPod(), debugRuns, EphemeralContainers},
		{"an ephemeral container waits", debugRuns, debugWaits, EphemeralContainers},
		{"an ephemeral container ends", debugRuns, debugEnded(""), EphemeralContainers},
		{"an ephemeral container ends otherwise", debugEnded(""), debugEnded("a"), EphemeralContainers},
		{"the image of an ephemeral container", debugRuns, restarted, 0},
		{"another owner", runningPod(), released, Owners},
		{"a node is ready", &corev1.Node{}, node("True", 1), NodeReady},
		{"a node is no longer ready", node("True", 1), node("False", 1), NodeReady},
		{"a node is ready since another time", node("True", 1), node("True", 2), NodeReady},
		{"a node sends a heartbeat", node("True", 1), node("True", 1), 0},
	} {
		if got := Changed(test.before, test.after, Everything&^Status); got != test.want {
			t.Errorf("%s: changed %b, want %b", test.name, got, test.want)
		}
		if got := Changed(test.before, test.after, Everything&^Status&^test.want); got != 0 {
			t.Errorf("%s: changed %b, of what is not asked for", test.name, got)
		}
	}
}

func TestWhatDecidesWhereAPodRuns(t *testing.T) {
	node := &corev1.Node{Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{"cpu": resource.MustParse("4")}}}
	for name, test := range map[string]struct {
		change func(*corev1.Node)
		want   Fields
	}{
		"cordoned":      {func(n *corev1.Node) { n.Spec.Unschedulable = true }, Placement},
		"a taint":       {func(n *corev1.Node) { n.Spec.Taints = []corev1.Taint{{Key: "a"}} }, Placement},
		"less":          {func(n *corev1.Node) { n.Status.Allocatable["cpu"] = resource.MustParse("3") }, Placement},
		"as much":       {func(n *corev1.Node) { n.Status.Allocatable["cpu"] = resource.MustParse("4000m") }, 0},
		"capacity":      {func(n *corev1.Node) { n.Status.Capacity = corev1.ResourceList{"cpu": resource.MustParse("9")} }, 0},
		"images":        {func(n *corev1.Node) { n.Status.Images = []corev1.ContainerImage{{SizeBytes: 1}} }, 0},
		"the condition": {func(n *corev1.Node) { n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady}} }, 0},
	} {
		after := node.DeepCopy()
		test.change(after)
		if got := Changed(node, after, Placement); got != test.want {
			t.Errorf("%s: changed %b, want %b", name, got, test.want)
		}
	}
}

// The scheduler tells again and again, in other words, why a pod has no node.
func TestScheduled(t *testing.T) {
	pod := runningPod()
	waits := corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: "0/5 nodes"}
	pod.Status.Conditions = append(pod.Status.Conditions, waits)
	last := len(pod.Status.Conditions) - 1
	for name, test := range map[string]struct {
		change  func(*corev1.PodCondition)
		matters bool
	}{
		"the status":  {func(c *corev1.PodCondition) { c.Status = corev1.ConditionTrue }, true},
		"the reason":  {func(c *corev1.PodCondition) { c.Reason = corev1.PodReasonSchedulingGated }, true},
		"the type":    {func(c *corev1.PodCondition) { c.Type = "example.com/other" }, true},
		"the message": {func(c *corev1.PodCondition) { c.Message = "0/6 nodes" }, false},
	} {
		after := pod.DeepCopy()
		test.change(&after.Status.Conditions[last])
		if got := Changed(pod, after, Scheduled) != 0; got != test.matters {
			t.Errorf("a change of %s matters: %v, want %v", name, got, test.matters)
		}
	}
}

func TestRestarts(t *testing.T) {
	pod := runningPod()
	for name, change := range map[string]func(*corev1.Pod){
		"a container":       func(p *corev1.Pod) { p.Status.ContainerStatuses[0].RestartCount++ },
		"an init container": func(p *corev1.Pod) { p.Status.InitContainerStatuses = []corev1.ContainerStatus{{RestartCount: 2}} },
	} {
		after := pod.DeepCopy()
		change(after)
		if Changed(pod, after, Restarts) != Restarts {
			t.Errorf("restarts of %s do not matter", name)
		}
	}
	after := pod.DeepCopy()
	after.Status.ContainerStatuses[0].Ready = false
	if Changed(pod, after, Restarts) != 0 {
		t.Error("readiness is taken for a restart")
	}
}

// No two fields of pods share a bit: a kind would be told of changes that it does not read.
func TestFieldsAreDistinct(t *testing.T) {
	var all Fields
	for i, f := range podFields {
		if f.bit&all != 0 {
			t.Errorf("field %d of pods shares bits %b with another one", i, f.bit&all)
		}
		all |= f.bit
	}
}

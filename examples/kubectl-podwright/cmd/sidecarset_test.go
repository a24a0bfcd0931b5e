// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/sidecarset"
	sidecarv1alpha1 "github.com/podwright/podwright/sidecar/v1alpha1"
)

// mesh is the SidecarSet of the tests, as its controller and its webhook have left it.
type mesh struct {
	*cluster
	revisions []*appsv1.ControllerRevision
}

// newMesh creates a SidecarSet of image envoy:1 with its revision.
func newMesh(c *cluster, strategy string) *mesh {
	c.t.Helper()
	m := &mesh{cluster: c}
	for _, namespace := range []string{"default", "shop"} {
		c.create("{apiVersion: v1, kind: Namespace, metadata: {name: " + namespace + "}}")
	}
	c.create(`
apiVersion: apps.kruise.io/v1alpha1
kind: SidecarSet
metadata: {name: mesh}
spec:
  selector: {matchLabels: {app: web}}
  unheardOf: stays
  updateStrategy: {` + strategy + `}
  containers: [{name: envoy, image: "envoy:1", volumeMounts: [{name: certs, mountPath: /certs}]}]
  volumes: [{name: certs, emptyDir: {}}]
status: {observedGeneration: 1}`)
	m.observed()
	return m
}

// set is the SidecarSet with its defaults, as the webhook writes it.
func (m *mesh) set() *sidecarv1alpha1.SidecarSet {
	m.t.Helper()
	u, err := m.dynamic.Resource(sidecarv1alpha1.SchemeGroupVersion.WithResource("sidecarsets")).Get(context.Background(), "mesh", metav1.GetOptions{})
	set := &sidecarv1alpha1.SidecarSet{}
	if err == nil {
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, set)
	}
	if err != nil {
		m.t.Fatal(err)
	}
	injection.Default(set)
	return set
}

// observed has the controller make the revision of the spec, and write its status.
func (m *mesh) observed() {
	m.t.Helper()
	set := m.set()
	p := sidecarset.NewPlan(&sidecarset.Snapshot{Set: set, Revisions: m.revisions, Now: noon})
	r := p.Revisions.Create
	if r == nil {
		m.t.Fatalf("no revision is to be created: %s", p)
	}
	m.revisions = append(m.revisions, r)
	m.createTyped(appsv1.SchemeGroupVersion.String(), "ControllerRevision", r)
	status, err := runtime.DefaultUnstructuredConverter.ToUnstructured(p.Status)
	if err != nil {
		m.t.Fatal(err)
	}
	m.patchMesh(map[string]any{"status": status})
}

func (m *mesh) patchMesh(patch map[string]any) {
	m.t.Helper()
	m.patch("sidecarsets.apps.kruise.io/mesh", patch)
}

// pod creates a ready pod, injected into by the webhook unless it is bare.
func (m *mesh) pod(namespace, name string, bare bool) {
	m.t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": "web"}, CreationTimestamp: metav1.NewTime(noon)},
		Spec: corev1.PodSpec{NodeName: "node-1", Containers: []corev1.Container{{Name: "main", Image: "nginx:1"}}}}
	if !bare {
		injected, err := injection.Inject(injection.Input{Pod: pod, SidecarSets: []*sidecarv1alpha1.SidecarSet{m.set()}, Revisions: m.revisions, Now: noon})
		if err != nil {
			m.t.Fatal(err)
		}
		pod = injected.Pod
		pod.Namespace, pod.Name = namespace, name
	}
	pod.Status.Phase = corev1.PodRunning
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.ContainersReady, Status: corev1.ConditionTrue}, {Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	for _, gate := range pod.Spec.ReadinessGates {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: gate.ConditionType, Status: corev1.ConditionTrue})
	}
	for _, c := range pod.Spec.Containers {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{Name: c.Name, Image: c.Image, ImageID: "id-" + c.Image,
			Ready: true, ContainerID: "c://" + c.Name, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}})
	}
	m.createTyped("v1", "Pod", pod)
}

// createTyped creates an object, with its status.
func (c *cluster) createTyped(apiVersion, kind string, object any) *unstructured.Unstructured {
	c.t.Helper()
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		c.t.Fatal(err)
	}
	u := &unstructured.Unstructured{Object: fields}
	u.SetAPIVersion(apiVersion)
	u.SetKind(kind)
	return c.createObject(u)
}

// image sets the image of the sidecar.
func (m *mesh) image(image string) {
	m.t.Helper()
	m.patchMesh(map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "envoy", "image": image,
		"volumeMounts": []any{map[string]any{"name": "certs", "mountPath": "/certs"}}}}}})
}

// rollingMesh is a SidecarSet that rolls envoy:2 out to three pods of envoy:1, in two namespaces; a fourth was created
// without it.
func rollingMesh(c *cluster, strategy string) *mesh {
	c.t.Helper()
	m := newMesh(c, strategy)
	c.clock.Step(time.Minute) // pods that are older than the SidecarSet need no sidecars
	m.pod("default", "web-0", false)
	m.pod("default", "web-1", false)
	m.pod("shop", "web-0", false)
	m.pod("shop", "bare", true)
	m.image("envoy:2")
	m.observed()
	return m
}

// (KC-19)
func TestPlanSidecarSet(t *testing.T) {
	c := newCluster(t)
	m := rollingMesh(c, "type: RollingUpdate, maxUnavailable: 1, partition: 1")
	to := m.revisions[1].Name
	c.expect(`POD             ACTION            DETAIL
default/web-0   update in place   to revision `+to+`
default/web-1   wait              partition 1: 3 pods could be updated, and the last of them stay
shop/bare       wait              it was created without the sidecars: recreate it once injection works
shop/web-0      wait              maxUnavailable 1: 1 pod out of service because of updates
`, "plan", "sidecarset/mesh")
	for _, r := range c.server.Requests("user") {
		if r.Verb != "get" && r.Verb != "list" {
			t.Errorf("a plan makes the request %s", r.String())
		}
	}
}

// (KC-18)
func TestTreeSidecarSet(t *testing.T) {
	c := newCluster(t)
	m := rollingMesh(c, "type: RollingUpdate, maxUnavailable: 1")
	c.expect(fmt.Sprintf(`sidecarset.apps.kruise.io/mesh
├── revision %s (2), of the spec
├── revision %s (1)
│   ├── pod default/web-0  ready on node-1  next: update in place
│   │   └── sidecar envoy of mesh  envoy:1  running
│   ├── pod default/web-1  ready on node-1  waits: maxUnavailable 1: 1 pod out of service because of updates
│   │   └── sidecar envoy of mesh  envoy:1  running
│   └── pod shop/web-0  ready on node-1  waits: maxUnavailable 1: 1 pod out of service because of updates
│       └── sidecar envoy of mesh  envoy:1  running
└── not injected
    └── pod shop/bare  ready on node-1  waits: it was created without the sidecars: recreate it once injection works
`, m.revisions[1].Name, m.revisions[0].Name), "tree", "sidecarset/mesh")
}

// A budget of one namespace is about the pods there. (KC-20)
func TestExplainSidecarSet(t *testing.T) {
	c := newCluster(t)
	rollingMesh(c, "type: RollingUpdate, maxUnavailable: 3, paused: true")
	c.create(`{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: kruise-manager, namespace: kruise-system}, spec: {leaseDurationSeconds: 15, renewTime: "2026-03-01T11:59:58.000000Z"}}`)
	c.create(`{apiVersion: v1, kind: Node, metadata: {name: node-1}, status: {conditions: [{type: Ready, status: "True"}]}}`)
	c.expect(`Paused (default/web-0, default/web-1, shop/web-0): updateStrategy.paused is true
  Ends when the update is resumed.
NotInjected (shop/bare): it was created without the sidecars: recreate it once injection works
  Ends when the pod is recreated while the webhook or a policy injects.
The next reconcile changes no pod.
`, "explain", "sidecarset/mesh")
	c.run("rollout", "resume", "sidecarset/mesh")
	c.create(`{apiVersion: policy.kruise.io/v1alpha1, kind: PodUnavailableBudget, metadata: {name: web, namespace: shop}, spec: {selector: {matchLabels: {app: web}}, maxUnavailable: 0},
		status: {unavailableAllowed: 0, currentAvailable: 2, desiredAvailable: 2, totalReplicas: 2}}`)
	if got := c.run("explain", "sidecarset/mesh"); !strings.Contains(got, "PodUnavailableBudget (shop/web-0): budget web allows no further pod") {
		t.Errorf("it says\n%s", got)
	}
}

// What a revision of a SidecarSet holds is what it injects. (KC-5)
func TestHistoryOfSidecarSet(t *testing.T) {
	c := newCluster(t)
	rollingMesh(c, "")
	c.expect("sidecarset.apps.kruise.io/mesh \nREVISION  CHANGE-CAUSE\n1         <none>\n2         <none>\n\n", "rollout", "history", "sidecarset/mesh")
	c.expect(`sidecarset.apps.kruise.io/mesh with revision #1
Pod Template:
  Labels:	<none>
  Containers:
   envoy:
    Image:	envoy:1
    Port:	<none>
    Host Port:	<none>
    Environment:	<none>
    Mounts:
      /certs from certs (rw)
  Volumes:
   certs:
    Type:	EmptyDir (a temporary directory that shares a pod's lifetime)
    Medium:	
    SizeLimit:	<unset>
  Node-Selectors:	<none>
  Tolerations:	<none>

`, "rollout", "history", "sidecarset/mesh", "--revision=1")
}

// What is written back is what the revision holds: the controller finds this very revision again. (KC-6)
func TestUndoSidecarSet(t *testing.T) {
	c := newCluster(t)
	m := newMesh(c, "partition: 1")
	m.patchMesh(map[string]any{"spec": map[string]any{"volumes": nil, "imagePullSecrets": []any{map[string]any{"name": "registry"}},
		"containers": []any{map[string]any{"name": "envoy", "image": "envoy:2"}, map[string]any{"name": "log", "image": "log:1"}}}})
	m.observed()
	c.expect("sidecarset.apps.kruise.io/mesh rolled back\n", "rollout", "undo", "sidecarset/mesh")
	p := sidecarset.NewPlan(&sidecarset.Snapshot{Set: m.set(), Revisions: m.revisions, Now: noon})
	if raised := p.Revisions.Raise; raised == nil || raised.Name != m.revisions[0].Name {
		t.Errorf("the plan is then\n%s\nwant revision %s raised", p, m.revisions[0].Name)
	}
	spec := c.clusterField("sidecarsets.apps.kruise.io/mesh", "spec")
	for _, want := range []string{`"unheardOf":"stays"`, `"partition":1`} {
		if !strings.Contains(spec, want) {
			t.Errorf("%s is not in the spec %s", want, spec)
		}
	}
	if strings.Contains(spec, "imagePullSecrets") {
		t.Errorf("what the revision does not hold stays in the spec %s", spec)
	}
	c.expect("sidecarset.apps.kruise.io/mesh skipped rollback (current template already matches revision 1)\n", "rollout", "undo", "sidecarset/mesh", "--to-revision=1")
	c.expect("sidecarset.apps.kruise.io/mesh rolled back\n", "rollout", "undo", "sidecarset/mesh")
	if spec := c.clusterField("sidecarsets.apps.kruise.io/mesh", "spec"); !strings.Contains(spec, "envoy:2") || !strings.Contains(spec, "registry") || strings.Contains(spec, "certs") {
		t.Errorf("the spec is %s, want that of revision 2", spec)
	}
}

// A revision is found wherever the manager has its namespace. (KC-4)
func TestPinnedStatusOfSidecarSet(t *testing.T) {
	c := newCluster(t)
	rollingMesh(c, "type: RollingUpdate")
	c.expect("error: desired revision (1) is different from the running revision (2)\nexit code 1\n", "rollout", "status", "sidecarset/mesh", "--revision=1")
}
